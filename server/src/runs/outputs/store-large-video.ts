// Streams a large video into the storage and inspects it there by reading ranges, so that its size does not matter for
// the memory of the worker. It is marked on the way. A signature needs the whole file in memory, so a video above
// 100 MB is marked instead, with a warning on its run.
import { Fault } from "../../faults/faults.ts";
import { inspectVideo } from "../../files/formats/inspect-video.ts";
import type { RangedFile } from "../../files/formats/ranged-file.ts";
import type { ProvenanceService } from "../../files/provenance/provenance-service.ts";
import { type ObjectStorage, runPrefix } from "../../files/storage/object-storage.ts";
import type { CrashPoint } from "../../observe/crash-points.ts";
import { MAX_SIGNED_BYTES } from "./fetch-output.ts";
import { describeOutput, type ProvenJob, type RunRef } from "./output-provenance.ts";
import type { FindProvenancePolicy } from "./provenance-policy.ts";
import { openStoredFile } from "./stored-file.ts";

export type LargeVideoDependencies = {
  assets: { storage: Pick<ObjectStorage, "putStream" | "get" | "delete"> };
  provenance: Pick<ProvenanceService, "markStream">;
  findProvenancePolicy: FindProvenancePolicy;
  crashPoint(name: CrashPoint): void;
};

type LargeVideo = { asset_id: string; video: AsyncIterable<Uint8Array>; job: ProvenJob };

export async function storeLargeVideo(
  dependencies: LargeVideoDependencies,
  run: RunRef,
  { asset_id, video, job }: LargeVideo,
) {
  const { assets, provenance, findProvenancePolicy, crashPoint } = dependencies;
  const { mode } = await findProvenancePolicy(run.tenant_id);
  const mark = mode === "off" ? undefined : describeOutput(run, { asset_id, job }).mark;
  const marked = mark && provenance.markStream(video, mark);
  const chunks = atEnd(marked?.chunks ?? video, () => crashPoint("result_read"));
  // The fetch has bounded the size.
  const limits = { mediaType: "video/mp4", maxBytes: Number.MAX_SAFE_INTEGER };
  const { key, ...stored } = await assets.storage.putStream(runPrefix(run.tenant_id, run.run_id), chunks, limits);
  const content = openStoredFile(assets.storage, { storage_key: key, size_bytes: stored.size_bytes });
  const inspected = await inspectStored(assets.storage, key, content);
  crashPoint("file_stored");
  const file = { asset_id, ...inspected, ...stored, role: "result", storage_key: key };
  return { file, content, mark, provenance: marked?.provenance(), warnings: warnUnsigned(mode, stored.size_bytes) };
}

async function* atEnd(stream: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* stream;
  onEnd();
}

/** A file that is no valid video is deleted. If that fails, the sweep of orphans does it. */
async function inspectStored(storage: Pick<ObjectStorage, "delete">, key: string, content: RangedFile) {
  try {
    return await inspectVideo(content);
  } catch (thrown) {
    const isInvalid = thrown instanceof Fault && thrown.code === "provider_output_invalid";
    if (isInvalid) await storage.delete([key]).catch(() => undefined);
    throw thrown;
  }
}

const MEGABYTE = 1024 * 1024;

const warnUnsigned = (mode: string, sizeBytes: number): string[] => {
  if (mode !== "sign") return [];
  const [size, limit] = [sizeBytes, MAX_SIGNED_BYTES].map((bytes) => `${Math.ceil(bytes / MEGABYTE)} MB`);
  return [`The video has ${size}. Gesso signs files of up to ${limit}, so the video is marked and not signed.`];
};

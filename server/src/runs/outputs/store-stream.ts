// Streams a large video, or a file that Gesso does not read, into the storage and inspects it there by reading ranges,
// so that its size does not matter for the memory of the worker. A video is marked on the way. A signature needs the
// whole file in memory, so a video above 100 MB is marked instead. A warning on the run says so, as it does for files
// that cannot say what made them.
import { Fault } from "../../faults/faults.ts";
import { inspectVideo, readMediaFacts } from "../../files/formats/inspect-video.ts";
import type { RangedFile } from "../../files/formats/ranged-file.ts";
import type { ProvenanceService } from "../../files/provenance/provenance-service.ts";
import { type ObjectStorage, runPrefix } from "../../files/storage/object-storage.ts";
import type { CrashPoint } from "../../observe/crash-points.ts";
import { MAX_SIGNED_BYTES } from "./fetch-output.ts";
import { describeOutput, type ProvenJob, type RunRef } from "./output-provenance.ts";
import type { FindProvenancePolicy } from "./provenance-policy.ts";
import { openStoredFile, type StoredFile } from "./stored-file.ts";

export type StreamDependencies = {
  assets: { storage: Pick<ObjectStorage, "putStream" | "get" | "delete"> };
  provenance: Pick<ProvenanceService, "markStream">;
  findProvenancePolicy: FindProvenancePolicy;
  crashPoint(name: CrashPoint): void;
};

type StreamedFile = { asset_id: string; stream: AsyncIterable<Uint8Array>; media_type: string; job: ProvenJob };

export async function storeStream(
  dependencies: StreamDependencies,
  run: RunRef,
  { asset_id, stream, media_type, job }: StreamedFile,
) {
  const { assets, provenance, findProvenancePolicy, crashPoint } = dependencies;
  const { mode } = await findProvenancePolicy(run.tenant_id);
  const canBeMarked = media_type === "video/mp4";
  const mark = mode === "off" || !canBeMarked ? undefined : describeOutput(run, { asset_id, job }).mark;
  const marked = mark && provenance.markStream(stream, mark);
  const chunks = atEnd(marked?.chunks ?? stream, () => crashPoint("result_read"));
  // The fetch has bounded the size.
  const limits = { mediaType: media_type, maxBytes: Number.MAX_SAFE_INTEGER };
  const { key, ...stored } = await assets.storage.putStream(runPrefix(run.tenant_id, run.run_id), chunks, limits);
  const content = openStoredFile(assets.storage, { storage_key: key, size_bytes: stored.size_bytes });
  const inspected = canBeMarked
    ? await inspectStored(assets.storage, key, content)
    : { media_type, ...(await readMediaFacts(content, media_type)) };
  crashPoint("file_stored");
  const file: StoredFile = { asset_id, ...inspected, ...stored, role: "result", storage_key: key };
  const warnings = canBeMarked ? warnUnsigned(mode, stored.size_bytes) : warnUnmarked(mode, media_type);
  return { file, content, mark, provenance: marked?.provenance(), warnings };
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

const warnUnmarked = (mode: string, mediaType: string): string[] =>
  mode === "off"
    ? []
    : [`A result is a file of the type ${mediaType}, which Gesso stores as it is, without a mark of what made it.`];

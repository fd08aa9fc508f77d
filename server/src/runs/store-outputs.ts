// Stores the results of a provider request: fetches them from the provider's allowed origins, converts those whose
// format the API promises, inspects them, and writes them and their thumbnails under a content-addressed key. Storing
// the same results twice changes nothing.
import { createHash } from "node:crypto";
import type { Database } from "../db/connect.ts";
import { type AttemptRef, type RequestOutput, saveRequestOutput } from "../db/runs/attempts.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import type { StoredAsset } from "../db/runs/runs.ts";
import { Fault, type FaultCode } from "../faults.ts";
import type { ImageDecoder } from "../images/image-decoder.ts";
import { inspectVideo, isVideo } from "../images/inspect-video.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import type { CrashPoint } from "../observe/crash-points.ts";
import type { OutboundHttp } from "../outbound/outbound-http.ts";
import type { JobDone, OutputMetadata, ProviderOutput } from "../providers/provider.ts";
import type { AssetStore } from "../storage/asset-store.ts";
import { assetKey } from "../storage/object-storage.ts";
import { convertOutput } from "./convert-output.ts";
import type { ProducedState, ResolvedRequest } from "./execute.ts";
import { deriveId, toAttemptRef } from "./ids.ts";
import { findsObjects } from "./nothing-found.ts";
import { type ProvenanceDependencies, type ProvenJob, proveOutput } from "./output-provenance.ts";
import type { EnabledProvider } from "./provider-registry.ts";
import { storeThumbnails, type ThumbnailDependencies } from "./store-thumbnails.ts";

const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;
const FETCH_SECONDS = 60;

export type StoredFile = StoredAsset & { storage_key: string };

export type FileDependencies = {
  assets: Pick<AssetStore, "storage">;
  images: ImageDecoder;
  crashPoint(name: CrashPoint): void;
};
export type OutputDependencies = FileDependencies &
  ThumbnailDependencies &
  ProvenanceDependencies & {
    database: Database;
    assets: Pick<AssetStore, "storage" | "signUrl">;
    http: Pick<OutboundHttp, "fetch">;
  };

/** Ends a run with the results of its only request. Returns undefined if these results do not complete the run. */
export type CompleteRun = (
  attempt: AttemptRef,
  output: RequestOutput,
  produced: ProducedState,
) => Promise<{ state: "finished" | "claim_lost" } | undefined>;

/** `request` is the recorded provider request, if this process sent it. */
export type ProducingRequest = Pick<ResolvedRequest, "requestIndex"> & {
  attemptNumber: number;
  job: ProvenJob & { count?: number | undefined };
  request?: JsonObject | undefined;
  /** Completes the run with the output, if the run has no other request. */
  complete?: CompleteRun | undefined;
};
export type StoredOutputs = ProducedState | { state: "finished" | "claim_lost" };

export async function storeOutputs(
  dependencies: OutputDependencies,
  claim: RunClaim,
  request: ProducingRequest,
  enabledProvider: EnabledProvider,
  { outputs, data }: Pick<JobDone, "outputs" | "data">,
): Promise<StoredOutputs> {
  const { task, count: requestedCount = outputs.length } = request.job;
  const mayBeEmpty = data !== undefined || findsObjects(task);
  if (outputs.length === 0 && !mayBeEmpty) throw new Fault("provider_output_invalid", { reason: "no_output" });
  const stored = await Promise.all(
    outputs.slice(0, requestedCount).map(async (output, index) => {
      const received = await fetchOutputBytes(dependencies, enabledProvider, output);
      dependencies.crashPoint("result_read");
      const bytes = await asProviderOutput(() => convertOutput(dependencies.images, task, received));
      if (!bytes) return [];
      const { name, score, box, duration, fps } = output;
      const asset_id = deriveId(claim.run_id, request.requestIndex, index);
      const inspected = await inspectOutput(dependencies, bytes);
      const { job } = request;
      const unproven = { asset_id, bytes, received, inspected, job, provider: enabledProvider.provider.id };
      const { bytes: proven, provenance, mark } = await proveOutput(dependencies, claim, unproven);
      const file = await storeFile(dependencies, claim, { asset_id, role: "result", bytes: proven, inspected });
      const image = { asset_id, bytes, mark };
      const { references, files: thumbnailFiles } = await storeThumbnails(dependencies, claim, image);
      const metadata = omitUndefined({ name, score, box, duration, fps });
      return [{ file: { ...file, ...metadata, ...references, ...(provenance && { provenance }) }, thumbnailFiles }];
    }),
  );
  const files = stored.flat().map(({ file }) => file);
  const thumbnailFiles = stored.flat().flatMap((each) => each.thumbnailFiles);
  const attempt = toAttemptRef(claim.run_id, request.requestIndex, request.attemptNumber);
  const output = { files, thumbnailFiles, data, request: request.request };
  const isIncomplete = outputs.length < requestedCount && !findsObjects(task);
  const warnings = isIncomplete ? [`The provider returned ${files.length} of ${requestedCount} results.`] : [];
  const produced: ProducedState = {
    state: "produced",
    files: files.map(({ storage_key: _, ...file }) => file),
    ...(data && { data }),
    warnings,
  };
  const completed = await request.complete?.(attempt, output, produced);
  if (completed) return completed;
  const saved = await saveRequestOutput(dependencies.database, claim, attempt, output);
  return saved ? { ...produced, ...saved } : { state: "claim_lost" };
}

const omitUndefined = (metadata: OutputMetadata): OutputMetadata =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));

type InspectedFile = { media_type: string; width: number; height: number };
type FileToStore = { asset_id: string; role: string; bytes: Uint8Array; inspected?: InspectedFile };

/** Writes the bytes to storage. The caller inserts the asset row. */
export async function storeFile(
  dependencies: FileDependencies,
  run: { run_id: string; tenant_id: string },
  { asset_id, role, bytes, inspected = undefined }: FileToStore,
): Promise<StoredFile> {
  const file = inspected ?? (await inspectOutput(dependencies, bytes));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
  await dependencies.assets.storage.put(storage_key, bytes, file.media_type);
  dependencies.crashPoint("file_stored");
  return { asset_id, ...file, size_bytes: bytes.length, sha256, role, storage_key };
}

async function inspectOutput({ images }: FileDependencies, bytes: Uint8Array): Promise<InspectedFile> {
  // Every chunk of a PNG has a checksum that inspection verifies, so decoding the pixels would prove nothing more.
  const isPng = bytes[0] === 0x89 && bytes[1] === 0x50;
  return asProviderOutput<InspectedFile>(() =>
    isVideo(bytes) ? inspectVideo(bytes) : images.inspect(bytes, { decode: !isPng }),
  );
}

/** No decoder process was free. The result is paid for, so the step is retried. */
const DECODER_FAULTS: FaultCode[] = ["service_overloaded", "dependency_unavailable"];

async function asProviderOutput<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    if (DECODER_FAULTS.includes(thrown.code)) throw new Fault("dependency_unavailable", {}, { cause: thrown });
    throw new Fault("provider_output_invalid", { reason: thrown.code }, { cause: thrown });
  }
}

async function fetchOutputBytes(
  { http }: OutputDependencies,
  { provider, env }: EnabledProvider,
  output: ProviderOutput,
): Promise<Uint8Array> {
  if ("bytes" in output) return output.bytes;
  const origins = provider.resultOrigins(env);
  const trustedOrigins = origins.filter((origin) => !origin.includes("*"));
  try {
    const { bytes } = await http.fetch(output.url, {
      maxBytes: MAX_OUTPUT_BYTES,
      timeoutSeconds: FETCH_SECONDS,
      trustedOrigins,
      allowedOrigins: origins,
      headers: provider.resultHeaders?.(env) ?? {},
    });
    return bytes;
  } catch (thrown) {
    if (thrown instanceof Fault && isPermanentFailure(thrown))
      throw new Fault("provider_output_invalid", { reason: "unreadable" }, { cause: thrown });
    // The provider's file server is unavailable. The engine retries the step.
    throw new Fault("dependency_unavailable", {}, { cause: thrown });
  }
}

/** The server responded, and a retry would get the same response. */
const PERMANENT_FETCH_REASONS: unknown[] = ["page", "empty", "encoding", "too_many_redirects"];

function isPermanentFailure({ code, details }: Fault): boolean {
  if (code === "dependency_unavailable") return false;
  return code !== "source_fetch_failed" || details.status === 404 || PERMANENT_FETCH_REASONS.includes(details.reason);
}

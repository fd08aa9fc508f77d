// Stores the results of a provider request: converts those whose format the API promises, inspects them, and writes
// them and their thumbnails under a content-addressed key. Large videos, and files that Gesso does not read, are
// streamed. Storing the same results twice changes nothing.

import { createHash } from "node:crypto";
import type { Job } from "../../contract/operation.ts";
import type { MediaKind } from "../../contract/pinned-model.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { type AttemptRef, type RequestOutput, saveRequestOutput } from "../../db/attempts/attempts.ts";
import type { Database } from "../../db/connect.ts";
import type { FileToInsert } from "../../db/files/insert-files.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { Fault, type FaultCode } from "../../faults/faults.ts";
import { detectType } from "../../files/formats/detect-type.ts";
import type { ImageSize } from "../../files/formats/image-size.ts";
import { inspectVideo } from "../../files/formats/inspect-video.ts";
import type { ImageDecoder } from "../../files/images/image-decoder.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import { assetKey } from "../../files/storage/object-storage.ts";
import type { CrashPoint } from "../../observe/crash-points.ts";
import type { JobDone, OutputMetadata, ProviderOutput } from "../../providers/provider.ts";
import { deriveId, toAttemptRef } from "../core/ids.ts";
import type { EnabledProvider } from "../offers/provider-registry.ts";
import type { ProducedState, ResolvedRequest } from "../steps.ts";
import { convertOutput, findResultProblem } from "./convert-output.ts";
import { type FetchDependencies, withFetchedOutput } from "./fetch-output.ts";
import { findModelOutputs } from "./model-outputs.ts";
import { findsObjects } from "./nothing-found.ts";
import { type ProvenanceDependencies, type ProvenJob, proveOutput } from "./output-provenance.ts";
import { storeStream } from "./store-stream.ts";
import { storeThumbnails, type ThumbnailDependencies } from "./store-thumbnails.ts";
import type { StoredFile, StoredImage } from "./stored-file.ts";

export type FileDependencies = {
  assets: Pick<AssetStore, "storage">;
  images: ImageDecoder;
  crashPoint(name: CrashPoint): void;
};
export type OutputDependencies = FileDependencies &
  ThumbnailDependencies &
  ProvenanceDependencies &
  FetchDependencies & {
    database: Database;
    assets: Pick<AssetStore, "storage" | "signUrl">;
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
  job: ProvenJob & Pick<Partial<Job>, "count" | "model_run">;
  request?: JsonObject | undefined;
  /** Completes the run with the output, if the run has no other request. */
  complete?: CompleteRun | undefined;
  /** Aborted when the results are no longer wanted, because the claim is lost. */
  signal?: AbortSignal | undefined;
};
export type StoredOutputs = ProducedState | { state: "finished" | "claim_lost" };

export async function storeOutputs(
  dependencies: OutputDependencies,
  claim: RunClaim,
  request: ProducingRequest,
  enabledProvider: EnabledProvider,
  done: Pick<JobDone, "outputs" | "data" | "raw" | "usage">,
): Promise<StoredOutputs> {
  const { usage } = done;
  const { outputs, kinds, toData } = findOutputs(request, enabledProvider, done);
  const { task, count: requestedCount = outputs.length } = request.job;
  const mayBeEmpty = toData !== undefined || findsObjects(task);
  if (outputs.length === 0 && !mayBeEmpty) throw new Fault("provider_output_invalid", { reason: "no_output" });
  const stored = await allOrNone(request.signal, (signal) =>
    outputs.slice(0, requestedCount).map((output, index) =>
      storeOutput({ ...dependencies, signal }, claim, request, {
        ...{ output, index, enabledProvider },
        kind: kinds?.[index],
      }),
    ),
  );
  const files = stored.flat().map(({ file }) => file);
  const data = toData?.(files.map(({ asset_id }) => asset_id));
  const thumbnailFiles = stored.flat().flatMap((each) => each.thumbnailFiles);
  const attempt = toAttemptRef(claim.run_id, request.requestIndex, request.attemptNumber);
  const output = { files, thumbnailFiles, data, usage, request: request.request };
  const isIncomplete = outputs.length < requestedCount && !findsObjects(task);
  const warnings = [
    ...(isIncomplete ? [`The provider returned ${files.length} of ${requestedCount} results.`] : []),
    ...stored.flat().flatMap((each) => each.warnings),
  ];
  const produced: ProducedState = {
    state: "produced",
    files: files.map(({ storage_key: _, ...file }) => file),
    ...(data && { data }),
    ...(usage && { usage }),
    warnings,
  };
  const completed = await request.complete?.(attempt, output, produced);
  if (completed) return completed;
  const saved = await saveRequestOutput(dependencies.database, claim, attempt, output);
  return saved ? { ...produced, ...saved } : { state: "claim_lost" };
}

/** `toData`: the result that is not a file, once the files are stored. */
function findOutputs(
  { job: { model_run } }: ProducingRequest,
  { provider, env }: EnabledProvider,
  { outputs, data, raw }: Pick<JobDone, "outputs" | "data" | "raw">,
) {
  if (!model_run) return { outputs, toData: data && (() => data) };
  const found = findModelOutputs(model_run, raw, provider.resultOrigins(env));
  return {
    outputs: found.outputs.map(({ output }) => output),
    kinds: found.outputs.map(({ kind }) => kind),
    toData: found.fillIn,
  };
}

/** If one fails, the others are stopped and waited for, so that a repetition of the step does not run beside them. */
async function allOrNone<T>(
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<T>[],
): Promise<T[]> {
  const control = new AbortController();
  const stop = () => control.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  const works = start(control.signal);
  try {
    return await Promise.all(works);
  } catch (thrown) {
    control.abort(thrown);
    await Promise.allSettled(works);
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

type StepDependencies = OutputDependencies & { signal: AbortSignal };
type OutputToStore = {
  output: ProviderOutput;
  index: number;
  enabledProvider: EnabledProvider;
  /** What the schema of an imported model announces. */
  kind: MediaKind | undefined;
};
/** A stored output with its metadata. The files of its thumbnails have rows of their own. */
type StoredOutput = { file: StoredFile; thumbnailFiles: FileToInsert[]; warnings: string[] };

/** Empty for a mask that marks nothing. */
async function storeOutput(
  dependencies: StepDependencies,
  claim: RunClaim,
  { requestIndex, job }: ProducingRequest,
  { output, index, enabledProvider, kind }: OutputToStore,
): Promise<StoredOutput[]> {
  const { signal } = dependencies;
  const signsVideos = async () => (await dependencies.findProvenancePolicy(claim.tenant_id)).mode === "sign";
  const asset_id = deriveId(claim.run_id, requestIndex, index);
  const { provider } = enabledProvider;
  const findTypeProblem = (mediaType: string) => findResultProblem(job.task, mediaType, kind);
  const toFetch = { enabledProvider, output, findTypeProblem, signsVideos, signal };
  const stored = await withFetchedOutput(dependencies, toFetch, (fetched) =>
    fetched.stream
      ? storeStreamWithThumbnails(dependencies, claim, { asset_id, ...fetched, job })
      : storeBytes(dependencies, claim, { asset_id, received: fetched.bytes, job, provider: provider.id }),
  );
  const { name, score, box, duration, fps } = output;
  const metadata = omitUndefined({ name, score, box, duration, fps });
  return stored ? [{ ...stored, file: { ...stored.file, ...metadata } }] : [];
}

type StreamedFile = Parameters<typeof storeStream>[2];

async function storeStreamWithThumbnails(
  dependencies: StepDependencies,
  claim: RunClaim,
  streamed: StreamedFile,
): Promise<StoredOutput> {
  const { asset_id } = streamed;
  const { file, content, mark, provenance, warnings } = await storeStream(dependencies, claim, streamed);
  if (file.media_type !== "video/mp4") return { file, thumbnailFiles: [], warnings };
  const { references, files } = await storeThumbnails(dependencies, claim, { asset_id, file: content, mark });
  return { file: { ...file, ...references, ...(provenance && { provenance }) }, thumbnailFiles: files, warnings };
}

type ReceivedFile = { asset_id: string; received: Uint8Array; job: ProducingRequest["job"]; provider: string };

async function storeBytes(
  dependencies: StepDependencies,
  claim: RunClaim,
  { asset_id, received, job, provider }: ReceivedFile,
): Promise<StoredOutput | undefined> {
  dependencies.crashPoint("result_read");
  const bytes = await asProviderOutput(() => convertOutput(dependencies.images, job.task, received));
  if (!bytes) return undefined;
  const inspected = await inspectOutput(dependencies, bytes);
  const unproven = { asset_id, bytes, received, inspected, job, provider };
  const { bytes: proven, provenance, mark } = await proveOutput(dependencies, claim, unproven);
  const file = await storeFile(dependencies, claim, { asset_id, role: "result", bytes: proven, inspected });
  const { references, files } = await storeThumbnails(dependencies, claim, { asset_id, file: bytes, mark });
  const stored = { ...file, ...references, ...(provenance && { provenance }) };
  return { file: stored, thumbnailFiles: files, warnings: [] };
}

const omitUndefined = (metadata: OutputMetadata): OutputMetadata =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));

type InspectedFile = { media_type: string } & ImageSize;
type FileToStore = { asset_id: string; role: string; bytes: Uint8Array; inspected?: InspectedFile };

/** Writes the bytes to storage. The caller inserts the asset row. */
export async function storeFile(
  dependencies: FileDependencies,
  run: { run_id: string; tenant_id: string },
  { asset_id, role, bytes, inspected = undefined }: FileToStore,
): Promise<StoredImage> {
  const file = inspected ?? (await inspectOutput(dependencies, bytes));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
  await dependencies.assets.storage.put(storage_key, bytes, file.media_type);
  dependencies.crashPoint("file_stored");
  return { asset_id, ...file, size_bytes: bytes.length, sha256, role, storage_key };
}

async function inspectOutput({ images }: FileDependencies, bytes: Uint8Array): Promise<InspectedFile> {
  // Every chunk of a PNG has a checksum that inspection verifies, so decoding the pixels would prove nothing more.
  const type = detectType(bytes);
  return asProviderOutput<InspectedFile>(() =>
    type === "video/mp4" ? inspectVideo(bytes) : images.inspect(bytes, { decode: type !== "image/png" }),
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

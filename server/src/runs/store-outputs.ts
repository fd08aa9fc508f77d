// Makes a provider's results ours: fetched from where they may come from, looked at, and put under a key of their content.
// Done twice, it comes out the same.
import { createHash } from "node:crypto";
import { saveRequestOutput } from "../db/runs/attempts.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import type { StoredAsset } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import { inspectVideo, isVideo } from "../images/inspect-video.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import type { JobDone, OutputMetadata, ProviderOutput } from "../providers/provider.ts";
import { assetKey } from "../storage/object-storage.ts";
import type { ProducedState, ResolvedRequest } from "./execute.ts";
import { deriveId } from "./ids.ts";
import type { EnabledProvider, Services } from "./services.ts";

const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;
const FETCH_SECONDS = 60;

export type StoredFile = StoredAsset & { storage_key: string };

export async function storeOutputs(
  services: Services,
  claim: RunClaim,
  request: ResolvedRequest & { attemptNumber: number; request?: JsonObject | undefined },
  live: EnabledProvider,
  { outputs, data }: Pick<JobDone, "outputs" | "data">,
): Promise<ProducedState | { state: "claim_lost" }> {
  const requestedCount = request.job.count ?? outputs.length;
  if (outputs.length === 0 && data === undefined) throw new Fault("provider_output_invalid", { reason: "no_output" });
  const files = await Promise.all(
    outputs.slice(0, requestedCount).map(async (output, index) => {
      const bytes = await fetchOutputBytes(services, live, output);
      services.crashPoint("result_read");
      const { name, score, box, duration, fps } = output;
      const file = await storeFile(services, claim, {
        asset_id: deriveId(claim.run_id, request.requestIndex, index),
        role: "result",
        bytes,
      });
      return { ...file, ...omitUndefined({ name, score, box, duration, fps }) };
    }),
  );
  const id = { run_id: claim.run_id, request_index: request.requestIndex, attempt_number: request.attemptNumber };
  if (!(await saveRequestOutput(services.db, claim, id, { files, data, request: request.request })))
    return { state: "claim_lost" };
  const warnings =
    files.length < requestedCount ? [`The provider returned ${files.length} of ${requestedCount} results.`] : [];
  return {
    state: "produced",
    files: files.map(({ storage_key: _, ...file }) => file),
    ...(data && { data }),
    warnings,
  };
}

const omitUndefined = (about: OutputMetadata): OutputMetadata =>
  Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));

type InspectedFile = { media_type: string; width: number; height: number };
type FileToStore = { asset_id: string; role: string; bytes: Uint8Array; seen?: InspectedFile };

export async function storeFile(
  services: Services,
  run: { run_id: string; tenant_id: string },
  { asset_id, role, bytes, seen: known }: FileToStore,
): Promise<StoredFile> {
  const seen = known ?? (await inspectResult(services, bytes));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
  await services.storage.put(storage_key, bytes, seen.media_type);
  services.crashPoint("file_stored");
  return { asset_id, ...seen, size_bytes: bytes.length, sha256, role, storage_key };
}

/** A provider's result is looked at here; what came in by another door has been looked at there. */
async function inspectResult({ images }: Services, bytes: Uint8Array): Promise<InspectedFile> {
  // Every part of a PNG carries a checksum, which is read in any case: decoding it would prove nothing more.
  const isChecksummed = bytes[0] === 0x89 && bytes[1] === 0x50;
  try {
    return await (isVideo(bytes) ? inspectVideo(bytes) : images.inspect(bytes, { decode: !isChecksummed }));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    throw new Fault("provider_output_invalid", { reason: thrown.code }, { cause: thrown });
  }
}

async function fetchOutputBytes(
  services: Services,
  live: EnabledProvider,
  output: ProviderOutput,
): Promise<Uint8Array> {
  if ("bytes" in output) return output.bytes;
  const origins = live.provider.resultOrigins(live.env);
  const trustedOrigins = origins.filter((origin) => !origin.includes("*"));
  try {
    const { bytes } = await services.fetchBytes(output.url, {
      maxBytes: MAX_OUTPUT_BYTES,
      timeoutSeconds: FETCH_SECONDS,
      trustedOrigins,
      allowedOrigins: origins,
      headers: live.provider.resultHeaders?.(live.env) ?? {},
    });
    return bytes;
  } catch (thrown) {
    if (thrown instanceof Fault && isPermanentFailure(thrown))
      throw new Fault("provider_output_invalid", { reason: "unreadable" }, { cause: thrown });
    // The provider's file server is away: not the run's fault, so the step is simply done again.
    throw new Fault("dependency_unavailable", {}, { cause: thrown });
  }
}

/** There was an answer, and no later one would be better. */
const PERMANENT_FETCH_REASONS: unknown[] = ["page", "empty", "encoding", "too_many_redirects"];

function isPermanentFailure({ code, details }: Fault): boolean {
  if (code === "dependency_unavailable") return false;
  return code !== "source_fetch_failed" || details.status === 404 || PERMANENT_FETCH_REASONS.includes(details.reason);
}

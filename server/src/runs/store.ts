// Makes a provider's results ours: fetched from where they may come from, looked at, and put under a key of their content.
// Done twice, it comes out the same.
import { createHash } from "node:crypto";
import { keepMade } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import type { KeptAsset } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Json } from "../kit/shapes.ts";
import { inspectVideo, isVideo } from "../media/inspect-video.ts";
import { assetKey } from "../media/storage.ts";
import type { About, Done, Output } from "../providers/provider.ts";
import type { JobInHand, Made } from "./execute.ts";
import type { House, LiveProvider } from "./house.ts";
import { idWithin } from "./ids.ts";

const MOST_BYTES = 100 * 1024 * 1024;
const FETCH_SECONDS = 60;

export type Kept = KeptAsset & { storage_key: string };

export async function keepOutputs(
  house: House,
  held: Held,
  work: JobInHand & { try: number; request?: Json | undefined },
  live: LiveProvider,
  { outputs, data }: Pick<Done, "outputs" | "data">,
): Promise<Made | { state: "lost" }> {
  const asked = work.job.count ?? outputs.length;
  if (outputs.length === 0 && data === undefined) throw new Fault("provider_output_invalid", { reason: "no_output" });
  const files = await Promise.all(
    outputs.slice(0, asked).map(async (output, index) => {
      const bytes = await bytesOf(house, live, output);
      house.moment("result_read");
      const { name, score, box, duration, fps } = output;
      const file = await keepFile(house, held, {
        asset_id: idWithin(held.run_id, work.n, index),
        role: "result",
        bytes,
      });
      return { ...file, ...onlyGiven({ name, score, box, duration, fps }) };
    }),
  );
  const id = { run_id: held.run_id, job: work.n, try: work.try };
  if (!(await keepMade(house.db, held, id, { files, data, request: work.request }))) return { state: "lost" };
  const warnings = files.length < asked ? [`The provider made ${files.length} of ${asked} results.`] : [];
  return { state: "made", files: files.map(({ storage_key: _, ...file }) => file), ...(data && { data }), warnings };
}

const onlyGiven = (about: About): About =>
  Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));

type Seen = { media_type: string; width: number; height: number };
type NewFile = { asset_id: string; role: string; bytes: Uint8Array; seen?: Seen };

export async function keepFile(
  house: House,
  run: { run_id: string; tenant_id: string },
  { asset_id, role, bytes, seen: known }: NewFile,
): Promise<Kept> {
  const seen = known ?? (await inspectResult(house, bytes));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
  await house.storage.put(storage_key, bytes, seen.media_type);
  house.moment("file_stored");
  return { asset_id, ...seen, size_bytes: bytes.length, sha256, role, storage_key };
}

/** A provider's result is looked at here; what came in by another door has been looked at there. */
async function inspectResult({ images }: House, bytes: Uint8Array): Promise<Seen> {
  // Every part of a PNG carries a checksum, which is read in any case: decoding it would prove nothing more.
  const isChecksummed = bytes[0] === 0x89 && bytes[1] === 0x50;
  try {
    return await (isVideo(bytes) ? inspectVideo(bytes) : images.inspect(bytes, { decode: !isChecksummed }));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    throw new Fault("provider_output_invalid", { reason: thrown.code }, { cause: thrown });
  }
}

async function bytesOf(house: House, live: LiveProvider, output: Output): Promise<Uint8Array> {
  if ("bytes" in output) return output.bytes;
  const origins = live.provider.resultOrigins(live.env);
  const allowOrigins = origins.filter((origin) => !origin.includes("*"));
  try {
    const { bytes } = await house.fetchBytes(output.url, {
      maxBytes: MOST_BYTES,
      timeoutSeconds: FETCH_SECONDS,
      allowOrigins,
      within: origins,
      headers: live.provider.resultHeaders?.(live.env) ?? {},
    });
    return bytes;
  } catch (thrown) {
    if (thrown instanceof Fault && isFinal(thrown))
      throw new Fault("provider_output_invalid", { reason: "unreadable" }, { cause: thrown });
    // The provider's file server is away: not the run's fault, so the step is simply done again.
    throw new Fault("dependency_unavailable", {}, { cause: thrown });
  }
}

/** There was an answer, and no later one would be better. */
const FINAL_REASONS: unknown[] = ["page", "empty", "encoding", "too_many_redirects"];

function isFinal({ code, details }: Fault): boolean {
  if (code === "dependency_unavailable") return false;
  return code !== "source_fetch_failed" || details.status === 404 || FINAL_REASONS.includes(details.reason);
}

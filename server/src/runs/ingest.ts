// Makes a job's sources ours before a provider sees them: addresses are fetched once and kept, runs and earlier jobs are
// named by the file they made. What leaves this step is ids, never addresses.
import { keepSource } from "../db/assets.ts";
import type { Held } from "../db/open-runs.ts";
import { findRun, type KeptAsset } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Job, Source } from "../kit/operation.ts";
import type { AssetRef } from "../providers/provider.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { keepFile } from "./store.ts";

const MOST_BYTES = 25 * 1024 * 1024;
const FETCH_SECONDS = 30;

export async function ingest(
  house: House,
  held: Held,
  n: number,
  job: Job,
  made: KeptAsset[][],
): Promise<Job<AssetRef>> {
  const take = (source: Source, place: string) => ingestSource(house, held, source, { made, place: `${n} ${place}` });
  const images = await Promise.all((job.images ?? []).map((source, index) => take(source, `image ${index}`)));
  const mask = job.mask && (await take(job.mask, "mask"));
  return { ...job, images: job.images && images, mask };
}

async function ingestSource(
  house: House,
  held: Held,
  source: Source,
  { made, place }: { made: KeptAsset[][]; place: string },
): Promise<AssetRef> {
  if ("job" in source) return toRef(made[source.job]?.[0]);
  if ("run" in source) return toRef((await findRun(house.db, held.tenant_id, source.run))?.result?.outputs[0]);
  if ("asset" in source) return { asset_id: source.asset, media_type: "image/png" };
  const { bytes } = await house.fetchBytes(source.url, { maxBytes: MOST_BYTES, timeoutSeconds: FETCH_SECONDS });
  const file = await keepFile(house, held, { asset_id: idWithin(held.run_id, "source", place), role: "source", bytes });
  await keepSource(house.db, held, file);
  return { asset_id: file.asset_id, media_type: file.media_type };
}

function toRef(asset: KeptAsset | undefined): AssetRef {
  if (!asset) throw new Fault("source_run_failed");
  return { asset_id: asset.asset_id, media_type: asset.media_type };
}

// Makes a job's sources ours before a provider sees them: addresses are fetched once and kept, runs and earlier jobs are
// named by the file they made. What leaves this step is ids, never addresses.
import { type AssetRow, findAsset, keepSource } from "../db/assets.ts";
import type { Held } from "../db/open-runs.ts";
import { findRun, type KeptAsset } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Job, Source } from "../kit/operation.ts";
import type { AssetRef } from "../providers/provider.ts";
import { checkMask } from "./check-mask.ts";
import type { House } from "./house.ts";
import { idWithin, sourceId } from "./ids.ts";
import { keepFile } from "./store.ts";
import { takeIn } from "./take-in.ts";

const MOST_BYTES = 25 * 1024 * 1024;
const FETCH_SECONDS = 30;

type Ours = Pick<KeptAsset, "asset_id" | "media_type" | "width" | "height">;

export async function ingest(house: House, held: Held, job: Job, made: KeptAsset[][]): Promise<Job<AssetRef>> {
  const take = async (sources: Source[] | undefined) =>
    sources && (await Promise.all(sources.map((source) => ingestSource(house, held, source, made)))).flat();
  const [images, masks, mask] = await Promise.all([take(job.images), take(job.masks), take(job.mask && [job.mask])]);
  // A job that makes one result for each mask has nothing to do where none was found.
  if (masks?.length === 0) throw new Fault("provider_rejected_input", { reason: "nothing_found" });
  const ours = { ...job, images, masks, mask: mask?.[0] && (await asMask(house, held, mask[0])) };
  checkMask(ours, (source) => source);
  return { ...ours, images: images?.map(toRef), masks: masks?.map(toRef), mask: ours.mask && toRef(ours.mask) };
}

async function ingestSource(house: House, held: Held, source: Source, made: KeptAsset[][]): Promise<Ours[]> {
  if ("job" in source) {
    const files = made[source.job] ?? [];
    return source.every ? files : [found(files[0])];
  }
  if ("run" in source) return [found((await findRun(house.db, held.tenant_id, source.run))?.result?.outputs[0])];
  if ("asset" in source) return [kept(found(await findAsset(house.db, source.asset)))];
  // Several jobs of a plan may use one address: they must all see the same picture, whatever it shows a moment later.
  const own = house.ownAsset(source.url);
  if (own) return [kept(found(await findAsset(house.db, own)))];
  const asset_id = sourceId(held.run_id, source.url);
  return [(await findAsset(house.db, asset_id)) ?? (await fetchSource(house, held, { asset_id, url: source.url }))];
}

async function fetchSource(house: House, held: Held, { asset_id, url }: { asset_id: string; url: string }) {
  const { bytes: fetched } = await house.fetchBytes(url, { maxBytes: MOST_BYTES, timeoutSeconds: FETCH_SECONDS });
  const { file } = await takeIn(house, held, { asset_id, role: "source", bytes: fetched });
  await keepSource(house.db, held, file);
  return file;
}

/** Providers get masks of one kind only. Another kind is drawn anew, and kept beside the one that was given. */
async function asMask(house: House, held: Held, mask: Ours): Promise<Ours> {
  const asset_id = idWithin(held.run_id, "mask", mask.asset_id);
  const row = await findAsset(house.db, mask.asset_id);
  const given = row && (await house.storage.bytes(row.storage_key));
  if (!given) throw new Fault("asset_unavailable", { asset_id: mask.asset_id });
  const bytes = await house.images.toMask(given);
  if (bytes === given) return mask;
  const file = await keepFile(house, held, { asset_id, role: "mask", bytes });
  await keepSource(house.db, held, file);
  return file;
}

function found<Asset>(asset: Asset | undefined): Asset {
  if (!asset) throw new Fault("source_run_failed");
  return asset;
}

/** A file that was deleted is no source, although its address was once signed. */
function kept(row: AssetRow): AssetRow {
  if (row.deleted_at) throw new Fault("asset_expired", { asset_id: row.asset_id });
  return row;
}

const toRef = ({ asset_id, media_type }: Ours): AssetRef => ({ asset_id, media_type });

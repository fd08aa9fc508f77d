// Makes a job's sources ours before a provider sees them: addresses are fetched once and kept, runs and earlier jobs are
// named by the file they made. What leaves this step is ids, never addresses.
import { findAsset, keepSource } from "../db/assets.ts";
import type { Held } from "../db/open-runs.ts";
import { findRun, type KeptAsset } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Job, Source } from "../kit/operation.ts";
import { normalizeUpload } from "../media/inspect.ts";
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
  const take = async (sources: Source[] | undefined, kind: string) =>
    sources &&
    (
      await Promise.all(
        sources.map((source, index) => ingestSource(house, held, source, { made, place: `${n} ${kind} ${index}` })),
      )
    ).flat();
  const [images, masks, mask] = await Promise.all([
    take(job.images, "image"),
    take(job.masks, "masks"),
    take(job.mask && [job.mask], "mask"),
  ]);
  return { ...job, images, masks, mask: mask?.[0] };
}

async function ingestSource(
  house: House,
  held: Held,
  source: Source,
  { made, place }: { made: KeptAsset[][]; place: string },
): Promise<AssetRef[]> {
  if ("job" in source) {
    const files = made[source.job] ?? [];
    return source.every ? files.map(toRef) : [toRef(files[0])];
  }
  if ("run" in source) return [toRef((await findRun(house.db, held.tenant_id, source.run))?.result?.outputs[0])];
  if ("asset" in source) return [toRef(await findAsset(house.db, source.asset))];
  const { bytes: fetched } = await house.fetchBytes(source.url, {
    maxBytes: MOST_BYTES,
    timeoutSeconds: FETCH_SECONDS,
  });
  const { bytes } = await normalizeUpload(fetched);
  const file = await keepFile(house, held, { asset_id: idWithin(held.run_id, "source", place), role: "source", bytes });
  await keepSource(house.db, held, file);
  return [toRef(file)];
}

function toRef(asset: { asset_id: string; media_type: string } | undefined): AssetRef {
  if (!asset) throw new Fault("source_run_failed");
  return { asset_id: asset.asset_id, media_type: asset.media_type };
}

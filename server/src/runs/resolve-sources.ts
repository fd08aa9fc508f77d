// Resolves the sources of a job to stored assets before a provider sees them: URLs are fetched once and stored; runs and
// earlier jobs resolve to the asset they produced. The step returns asset ids, never URLs.
import { type AssetRow, findAsset, insertSourceAsset } from "../db/runs/assets.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import { findRun, type StoredAsset } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { Job, Source } from "../kit/operation.ts";
import type { AssetRef } from "../providers/provider.ts";
import { checkMask } from "./check-mask.ts";
import { deriveId, sourceAssetId } from "./ids.ts";
import type { Services } from "./services.ts";
import { storeFile } from "./store-outputs.ts";
import { storeSource } from "./store-source.ts";

const MAX_SOURCE_BYTES = 25 * 1024 * 1024;
const FETCH_SECONDS = 30;

type SourceAsset = Pick<StoredAsset, "asset_id" | "media_type" | "width" | "height">;

export async function resolveSources(
  services: Services,
  claim: RunClaim,
  job: Job,
  filesByJob: StoredAsset[][],
): Promise<Job<AssetRef>> {
  const resolveAll = async (sources: Source[] | undefined) =>
    sources && (await Promise.all(sources.map((source) => resolveSource(services, claim, source, filesByJob)))).flat();
  const [images, masks, mask] = await Promise.all([
    resolveAll(job.images),
    resolveAll(job.masks),
    resolveAll(job.mask && [job.mask]),
  ]);
  // A job that makes one result for each mask has nothing to do where none was found.
  if (masks?.length === 0) throw new Fault("provider_rejected_input", { reason: "nothing_found" });
  const resolvedJob = { ...job, images, masks, mask: mask?.[0] && (await normalizeMask(services, claim, mask[0])) };
  checkMask(resolvedJob, (source) => source);
  return {
    ...resolvedJob,
    images: images?.map(toAssetRef),
    masks: masks?.map(toAssetRef),
    mask: resolvedJob.mask && toAssetRef(resolvedJob.mask),
  };
}

async function resolveSource(
  services: Services,
  claim: RunClaim,
  source: Source,
  filesByJob: StoredAsset[][],
): Promise<SourceAsset[]> {
  if ("job" in source) {
    const files = filesByJob[source.job] ?? [];
    return source.every ? files : [requireAsset(files[0])];
  }
  if ("run" in source)
    return [requireAsset((await findRun(services.db, claim.tenant_id, source.run))?.result?.outputs[0])];
  if ("asset" in source) return [requireNotDeleted(requireAsset(await findAsset(services.db, source.asset)))];
  // Several jobs of a plan may use one address: they must all see the same picture, whatever it shows a moment later.
  const ownAssetId = services.ownAsset(source.url);
  if (ownAssetId) return [requireNotDeleted(requireAsset(await findAsset(services.db, ownAssetId)))];
  const asset_id = sourceAssetId(claim.run_id, source.url);
  return [
    (await findAsset(services.db, asset_id)) ?? (await fetchSource(services, claim, { asset_id, url: source.url })),
  ];
}

async function fetchSource(services: Services, claim: RunClaim, { asset_id, url }: { asset_id: string; url: string }) {
  const { bytes: fetched } = await services.fetchBytes(url, {
    maxBytes: MAX_SOURCE_BYTES,
    timeoutSeconds: FETCH_SECONDS,
  });
  const { file } = await storeSource(services, claim, { asset_id, role: "source", bytes: fetched });
  await insertSourceAsset(services.db, claim, file);
  return file;
}

/** Providers get masks of one kind only. Another kind is drawn anew, and kept beside the one that was given. */
async function normalizeMask(services: Services, claim: RunClaim, mask: SourceAsset): Promise<SourceAsset> {
  const asset_id = deriveId(claim.run_id, "mask", mask.asset_id);
  const row = await findAsset(services.db, mask.asset_id);
  const given = row && (await services.storage.bytes(row.storage_key));
  if (!given) throw new Fault("asset_unavailable", { asset_id: mask.asset_id });
  const bytes = await services.images.toMask(given);
  if (bytes === given) return mask;
  const file = await storeFile(services, claim, { asset_id, role: "mask", bytes });
  await insertSourceAsset(services.db, claim, file);
  return file;
}

function requireAsset<Asset>(asset: Asset | undefined): Asset {
  if (!asset) throw new Fault("source_run_failed");
  return asset;
}

/** A file that was deleted is no source, although its address was once signed. */
function requireNotDeleted(row: AssetRow): AssetRow {
  if (row.deleted_at) throw new Fault("asset_expired", { asset_id: row.asset_id });
  return row;
}

const toAssetRef = ({ asset_id, media_type }: SourceAsset): AssetRef => ({ asset_id, media_type });

// Resolves the sources of a job to stored assets before a provider sees them: URLs are fetched once and stored; runs
// and earlier jobs resolve to the asset they produced, or to a still of it. The step returns asset ids, never URLs.
// While the storage is away it holds the claim of the run and the fetched bytes, and repeats only the storing.

import type { Job, Source } from "../../contract/operation.ts";
import type { VideoFrame } from "../../contract/run-outputs.ts";
import { type AssetRow, findAsset, insertSourceAsset } from "../../db/files/assets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { findRun } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import type { ImageSize } from "../../files/formats/image-size.ts";
import type { VideoFrames } from "../../files/images/video-frames.ts";
import type { OutboundHttp } from "../../outbound/outbound-http.ts";
import type { AssetRef } from "../../providers/provider.ts";
import { frameAssetId, sourceAssetId } from "../core/ids.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ByteBudget } from "../outputs/byte-budget.ts";
import { openStoredFile } from "../outputs/stored-file.ts";
import type { ResolvedSources } from "../steps.ts";
import { checkMask, findMaskedImage } from "./check-mask.ts";
import { checkUpscale } from "./check-upscale.ts";
import { type ClaimedStep, runClaimedStep } from "./claimed-step.ts";
import { fetchFile } from "./fetch-file.ts";
import { prepareMask, type SourceAsset } from "./prepare-mask.ts";
import type { SourceBuffer } from "./source-buffer.ts";
import { assertImage, isVideoFile, requireOutput, type StoredSources } from "./source-files.ts";
import { MAX_SOURCE_BYTES, type SourceDependencies, writeSource } from "./store-source.ts";

const FETCH_SECONDS = 30;

export type ResolveDependencies = SourceDependencies &
  StoredSources &
  Pick<Runtime, "clock" | "random" | "crashPoint"> & { http: OutboundHttp; videoFrames: VideoFrames };
type Dependencies = ResolveDependencies & { sourceBuffer: SourceBuffer; byteBudget: ByteBudget };
type StepDependencies = Dependencies & { step: ClaimedStep };

export async function resolveSources(
  services: Dependencies,
  claim: RunClaim,
  job: Job,
  filesByJob: StoredAsset[][],
): Promise<ResolvedSources> {
  return runClaimedStep(services, claim, async (step) => ({
    state: "resolved",
    job: await resolveJob({ ...services, step }, claim, job, filesByJob),
  }));
}

async function resolveJob(
  services: StepDependencies,
  claim: RunClaim,
  job: Job,
  filesByJob: StoredAsset[][],
): Promise<Job<AssetRef>> {
  const resolveAll = async (sources: Source[] | undefined) =>
    sources && (await Promise.all(sources.map((source) => resolveSource(services, claim, source, filesByJob)))).flat();
  if (job.task === "model.run") {
    const files = (job.images ?? []).map((source) => resolveFile(services, claim, source, filesByJob));
    return { ...job, images: (await Promise.all(files)).flat().map(toAssetRef), masks: undefined, mask: undefined };
  }
  const [images, masks, mask] = await Promise.all([
    resolveAll(job.images),
    resolveAll(job.masks),
    resolveAll(job.mask && [job.mask]),
  ]);
  // A job with one result per mask has nothing to do if the segmentation before it found no object.
  if (masks?.length === 0) throw new Fault("provider_rejected_input", { reason: "nothing_found" });
  const resolvedJob = { ...job, images, masks };
  for (const each of mask ?? []) checkMask({ ...resolvedJob, mask: each }, (source) => source);
  checkUpscale(resolvedJob, (source) => source);
  const image = findMaskedImage(resolvedJob);
  const preparedMask = mask && (await prepareMask(services, claim, mask, { image, margin: job.mask_margin }));
  const isPrepared = preparedMask && preparedMask.asset_id !== mask[0]?.asset_id;
  return {
    ...resolvedJob,
    images: images?.map(toAssetRef),
    masks: masks?.map(toAssetRef),
    mask: preparedMask && toAssetRef(isPrepared ? { ...preparedMask, made_from: mask.map(toAssetRef) } : preparedMask),
  };
}

async function resolveSource(
  services: StepDependencies,
  claim: RunClaim,
  source: Source,
  filesByJob: StoredAsset[][],
): Promise<SourceAsset[]> {
  const { database, assets } = services;
  if ("job" in source) {
    const files = filesByJob[source.job] ?? [];
    const used = source.every || source.each ? files : [requireAsset(files[0])];
    return used.map((file, output_index) => requireImage(file, { job: source.job, output_index }));
  }
  if ("run" in source) {
    const file = requireOutput(requireAsset(await findRun(database, claim.tenant_id, source.run)), source);
    if (!isVideoFile(file)) return [requireImage(file, { run_id: source.run })];
    const still = await takeFrame(services, claim, file, source.frame!);
    return [{ ...still, made_from: [toAssetRef(file)] }];
  }
  const ownAssetId = "asset" in source ? source.asset : assets.findIdByUrl(source.url);
  if (ownAssetId) {
    const file = requireNotDeleted(requireAsset(await findAsset(database, ownAssetId)));
    return [requireImage(file, { asset_id: ownAssetId })];
  }
  if ("asset" in source) throw new Fault("source_run_failed");
  // Jobs of one run that use the same URL share one asset, so they see the same image even if the URL's content
  // changes.
  const asset_id = sourceAssetId(claim.run_id, source.url);
  const stored = await findAsset(database, asset_id);
  if (stored) return [requireImage(stored, { asset_id })];
  return [await fetchSource(services, claim, { asset_id, url: source.url })];
}

/** A source of any medium. */
async function resolveFile(
  services: StepDependencies,
  claim: RunClaim,
  source: Source,
  filesByJob: StoredAsset[][],
): Promise<(StoredAsset | SourceAsset)[]> {
  const { database, assets } = services;
  if ("job" in source || ("run" in source && source.frame)) return resolveSource(services, claim, source, filesByJob);
  if ("run" in source)
    return [requireOutput(requireAsset(await findRun(database, claim.tenant_id, source.run)), source)];
  const ownAssetId = "asset" in source ? source.asset : assets.findIdByUrl(source.url);
  if (ownAssetId) return [requireNotDeleted(requireAsset(await findAsset(database, ownAssetId)))];
  if ("asset" in source) throw new Fault("source_run_failed");
  const asset_id = sourceAssetId(claim.run_id, source.url);
  return [(await findAsset(database, asset_id)) ?? (await fetchFile(services, claim, { asset_id, url: source.url }))];
}

async function fetchSource(
  services: StepDependencies,
  claim: RunClaim,
  { asset_id, url }: { asset_id: string; url: string },
): Promise<SourceAsset> {
  const { http, sourceBuffer, step } = services;
  const fetch = async () =>
    (await http.fetch(url, { maxBytes: MAX_SOURCE_BYTES, timeoutSeconds: FETCH_SECONDS })).bytes;
  const { bytes, release } = await sourceBuffer.hold(asset_id, fetch, step.signal);
  try {
    return await storeImage(services, claim, { asset_id, bytes });
  } finally {
    release();
  }
}

/** Normalizes the image once and repeats only the storing. */
async function storeImage(
  services: StepDependencies,
  claim: RunClaim,
  { asset_id, bytes }: { asset_id: string; bytes: Uint8Array },
): Promise<SourceAsset> {
  const { images, database, step } = services;
  const normalized = await step.retryWhileUnavailable(() => images.normalize(bytes));
  return step.retryWhileUnavailable(async () => {
    const { file } = await writeSource(services, claim, { asset_id, role: "source", bytes }, normalized);
    await insertSourceAsset(database, claim, file);
    return file;
  });
}

/** Stores the still of a video as an image of this run. Jobs that use the same frame share it. */
async function takeFrame(
  services: StepDependencies,
  claim: RunClaim,
  video: StoredAsset,
  frame: VideoFrame,
): Promise<SourceAsset> {
  const { database, assets, videoFrames, step } = services;
  const asset_id = frameAssetId(claim.run_id, video.asset_id, frame);
  const stored = await findAsset(database, asset_id);
  if (stored) return requireImage(stored, { asset_id });
  const row = requireNotDeleted(requireAsset(await findAsset(database, video.asset_id)));
  const file = openStoredFile(assets.storage, row);
  const still = await step.retryWhileUnavailable(() => videoFrames.extract(file, frame));
  return storeImage(services, claim, { asset_id, bytes: still });
}

function requireAsset<Asset>(asset: Asset | undefined): Asset {
  if (!asset) throw new Fault("source_run_failed");
  return asset;
}

function requireImage<File extends StoredAsset>(file: File, place: Record<string, unknown>): File & ImageSize {
  assertImage(file, place);
  return file;
}

/** The signature of a URL stays valid after its file was deleted. */
function requireNotDeleted(row: AssetRow): AssetRow {
  if (row.deleted_at) throw new Fault("asset_expired", { asset_id: row.asset_id });
  return row;
}

type ReferredFile = Pick<StoredAsset, "asset_id" | "media_type"> & Pick<SourceAsset, "role" | "made_from">;

const toAssetRef = ({ asset_id, media_type, role, made_from }: ReferredFile): AssetRef => ({
  asset_id,
  media_type,
  ...(role === "result" && { is_result: true }),
  ...(made_from && { made_from }),
});

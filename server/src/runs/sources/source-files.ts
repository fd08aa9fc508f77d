// The stored files behind the sources of a plan: outputs of runs, and files of other runs given by their URL or
// reference. A source that cannot be used as an image is refused here, when the run is accepted or before it is sent.

import type { Job, Source } from "../../contract/operation.ts";
import type { Database } from "../../db/connect.ts";
import { type AssetRow, findAssets } from "../../db/files/assets.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import { type ImageSize, knownSize } from "../../files/formats/image-size.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";

/** `database` is scoped to the tenant. */
/** Where the stored files are that a request refers to, by their URL or their run. */
export type StoredSources = { database: Database; assets: Pick<AssetStore, "findIdByUrl"> };
type RunSource = Extract<Source, { run: string }>;
type RunOutputs = Pick<RunRow, "run_id" | "result">;

export const listSources = (job: Job): Source[] => [
  ...(job.images ?? []),
  ...(job.masks ?? []),
  ...(job.mask ? [job.mask] : []),
];

/** The run that a source belongs to, other than the run that is planned. */
export function sourceRunId(source: Source | undefined): string | undefined {
  if (!source) return undefined;
  if ("run" in source) return source.run.toLowerCase();
  return "asset" in source ? source.run_id : undefined;
}

/**
 * Returns a function that replaces URLs of this server's files, and references to stored files, by the file and its
 * run. A file of another tenant keeps its URL: its signature permits reading it, but not the lineage. For an end user,
 * a file of another one is not found. `files` came with the request.
 */
export async function linkStoredFiles(
  { database, assets }: StoredSources,
  tenantId: string,
  sources: Source[],
  files: StoredAsset[],
): Promise<(source: Source) => Source> {
  const isStaged = (assetId: string) => files.some(({ asset_id }) => asset_id === assetId);
  const assetIdOf = (source: Source) => {
    if ("asset" in source) return isStaged(source.asset) ? undefined : source.asset;
    return "url" in source ? assets.findIdByUrl(source.url) : undefined;
  };
  const ids = [...new Set(sources.flatMap((source) => assetIdOf(source) ?? []))];
  const rows = ids.length > 0 ? await findAssets(database, tenantId, ids) : [];
  const rowOf = (source: Source) => rows.find(({ asset_id }) => asset_id === assetIdOf(source));
  for (const source of sources) {
    const asset_id = assetIdOf(source);
    if (asset_id === undefined || ("url" in source && database.endUser === undefined)) continue;
    const row = rowOf(source);
    if (!row) throw new Fault("asset_not_found", { asset_id });
    if ("asset" in source && row.deleted_at) throw new Fault("asset_expired", { asset_id });
  }
  return (source) => {
    const row = rowOf(source);
    // A deleted file is reported when the sources are resolved, as for every other URL that has no image.
    if (!row || row.deleted_at) return source;
    const { as_is } = source as { as_is?: true };
    if (!as_is) assertImage(row, { asset_id: row.asset_id });
    return { asset: row.asset_id, run_id: row.run_id, ...(as_is && { as_is }) };
  };
}

export const linkPlan = (plan: Job[], link: (source: Source) => Source): Job[] =>
  plan.map((job) => ({
    ...job,
    ...(job.images && { images: job.images.map(link) }),
    ...(job.masks && { masks: job.masks.map(link) }),
    ...(job.mask && { mask: link(job.mask) }),
  }));

/** The output of an ended run that a source names. Throws if there is none, or if it is a video without a frame. */
export function requireOutput({ run_id, result }: RunOutputs, source: RunSource): StoredAsset {
  const outputs = result?.outputs ?? [];
  if (outputs.length === 0) throw new Fault("source_run_failed", { run_id });
  const output_index = source.output ?? 0;
  const file = outputs[output_index];
  if (!file) throw new Fault("output_not_found", { run_id, output_index, output_count: outputs.length });
  if (source.as_is ? !source.frame : source.frame && isVideoFile(file)) return file;
  assertImage(file, { run_id, output_index });
  return file;
}

/** `requireOutput` without a refusal, for what is only shown or estimated. */
export const findOutput = ({ result }: RunOutputs, source: RunSource): StoredAsset | undefined =>
  result?.outputs[source.output ?? 0];

/** A video whose frames can be read. */
export const isVideoFile = ({ media_type }: Pick<AssetRow, "media_type">) => media_type === "video/mp4";

type FileOfAnyKind = Pick<AssetRow, "media_type" | "width" | "height">;

/** Only an image that Gesso reads can be a source: its size is known. */
export function assertImage<File extends FileOfAnyKind>(
  file: File,
  place: Record<string, unknown>,
): asserts file is File & ImageSize {
  const { media_type } = file;
  if (!media_type.startsWith("image/") || !knownSize(file))
    throw new Fault("source_not_image", { ...place, media_type });
}

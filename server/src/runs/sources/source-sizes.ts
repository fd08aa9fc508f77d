// Sizes of source images that are known before a run starts: those of stored files and of results of other runs. They
// determine the price of a job with a price per megapixel. A size that is not known here is never guessed.

import type { Job, Source, SourceSize } from "../../contract/operation.ts";
import { findAssets } from "../../db/files/assets.ts";
import { findRuns } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { knownSize } from "../../files/formats/image-size.ts";
import { expectedSize } from "../../money/billable-quantity.ts";
import { findOutput, type StoredSources, sourceRunId } from "./source-files.ts";

/** `database` is scoped to the tenant. */
/** Adds `source_size` to the jobs whose source images all have a known size. `files` came with the request. */
export async function addSourceSizes(
  services: StoredSources,
  tenantId: string,
  plan: Job[],
  files: StoredAsset[],
): Promise<Job[]> {
  const sources = plan.flatMap(({ images }) => images ?? []);
  if (sources.length === 0) return plan;
  const { database, assets } = services;
  const assetIdOf = (source: Source) =>
    "asset" in source ? source.asset : "url" in source ? assets.findIdByUrl(source.url) : undefined;
  const fileIds = new Set(files.map((file) => file.asset_id));
  const assetIds = sources.flatMap((source) => assetIdOf(source) ?? []).filter((id) => !fileIds.has(id));
  const runIds = sources.flatMap((source) => ("run" in source ? source.run : []));
  const rows = runIds.length > 0 ? await findRuns(database, tenantId, [...new Set(runIds)]) : [];
  const stored = assetIds.length > 0 ? await findAssets(database, tenantId, [...new Set(assetIds)]) : [];

  const sized: Job[] = [];
  const sizeOf = (source: Source): SourceSize | undefined => {
    if ("job" in source) return sized[source.job] && expectedSize(sized[source.job]!);
    if ("run" in source) {
      const row = rows.find((each) => each.run_id === sourceRunId(source));
      return sizeOfFile(row && findOutput(row, source));
    }
    const assetId = assetIdOf(source);
    return sizeOfFile([...files, ...stored].find((file) => file.asset_id === assetId));
  };
  for (const job of plan) {
    const sizes = (job.images ?? []).map(sizeOf);
    const [largest] = sizes.toSorted((a, b) => areaOf(b) - areaOf(a));
    sized.push(largest && !sizes.includes(undefined) ? { ...job, source_size: toSize(largest) } : job);
  }
  return sized;
}

const sizeOfFile = (file: StoredAsset | undefined) => file && knownSize(file);
const areaOf = (size: SourceSize | undefined) => (size ? size.width * size.height : 0);
const toSize = ({ width, height }: SourceSize): SourceSize => ({ width, height });

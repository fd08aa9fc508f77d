// Gives providers masks in one format and in the size of their image. A mask that has to change is stored as a further
// asset of the run, under an id that is derived from the originals, so a repeated step stores it once.

import { findAsset, insertSourceAsset } from "../../db/files/assets.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import type { ImageSize } from "../../files/formats/image-size.ts";
import type { AssetRef } from "../../providers/provider.ts";
import { deriveId } from "../core/ids.ts";
import type { Runtime } from "../core/runtime.ts";
import { storeFile } from "../outputs/store-outputs.ts";
import type { SourceDependencies } from "./store-source.ts";

export type SourceAsset = Pick<StoredAsset, "asset_id" | "media_type"> &
  ImageSize & { role?: string; made_from?: AssetRef[] };

type Dependencies = Pick<SourceDependencies, "database" | "assets" | "images"> & Pick<Runtime, "crashPoint">;
type MaskOptions = {
  /** The image that the mask applies to, if the job has one. Both have the same shape. */
  image: SourceAsset | undefined;
  /** The share of the longer side by which the mask is extended. */
  margin?: number | undefined;
};

/** Several masks, as a segmentation finds them, become one. */
export async function prepareMask(
  services: Dependencies,
  claim: RunClaim,
  masks: SourceAsset[],
  { image, margin = 0 }: MaskOptions,
): Promise<SourceAsset> {
  const [mask] = masks;
  // A job with a mask has nothing to do if the segmentation before it found no object.
  if (!mask) throw new Fault("provider_rejected_input", { reason: "nothing_found" });
  const { width, height } = image ?? mask;
  const size = { width, height };
  const isScaled = (each: SourceAsset) => each.width !== width || each.height !== height;
  const originals = await Promise.all(masks.map((each) => readAsset(services, each.asset_id)));
  const converted = await Promise.all(
    originals.map((bytes, index) => services.images.toMask(bytes, isScaled(masks[index]!) ? size : undefined)),
  );
  const isMerged = masks.length > 1 || margin > 0;
  if (!isMerged && converted[0] === originals[0]) return mask;
  const marginPixels = Math.round(Math.max(width, height) * margin);
  const bytes = isMerged ? await services.images.mergeMasks(converted, { size, margin: marginPixels }) : converted[0]!;
  // One mask can be scaled to several images of a run.
  const variant = [
    ...(masks.some(isScaled) ? [`${width}x${height}`] : []),
    ...(isMerged ? [`+${marginPixels}`, ...masks.slice(1).map(({ asset_id }) => asset_id)] : []),
  ];
  const asset_id = deriveId(claim.run_id, "mask", mask.asset_id, ...variant);
  const file = await storeFile(services, claim, { asset_id, role: "mask", bytes });
  await insertSourceAsset(services.database, claim, file);
  return file;
}

async function readAsset({ database, assets }: Dependencies, assetId: string): Promise<Uint8Array> {
  const row = await findAsset(database, assetId);
  const bytes = row && (await assets.storage.bytes(row.storage_key));
  if (!bytes) throw new Fault("asset_unavailable", { asset_id: assetId });
  return bytes;
}

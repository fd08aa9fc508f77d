// Gives providers masks in one format and in the size of their image. A mask that has to change is stored as a further
// asset of the run, under an id that is derived from the original, so a repeated step stores it once.
import { findAsset, insertSourceAsset } from "../db/runs/assets.ts";
import type { RunClaim } from "../db/runs/open-runs.ts";
import type { StoredAsset } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { ImageSize } from "../images/image-size.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";
import { storeFile } from "./store-outputs.ts";

export type SourceAsset = Pick<StoredAsset, "asset_id" | "media_type" | "width" | "height">;

type Dependencies = Pick<Services, "database" | "assets" | "images" | "crashPoint">;

/** `image` is the image that the mask applies to, if the job has one. Both have the same shape. */
export async function normalizeMask(
  services: Dependencies,
  claim: RunClaim,
  mask: SourceAsset,
  image: ImageSize | undefined,
): Promise<SourceAsset> {
  const row = await findAsset(services.database, mask.asset_id);
  const original = row && (await services.assets.storage.bytes(row.storage_key));
  if (!original) throw new Fault("asset_unavailable", { asset_id: mask.asset_id });
  const isScaled = image !== undefined && (image.width !== mask.width || image.height !== mask.height);
  const size = isScaled ? { width: image.width, height: image.height } : undefined;
  const bytes = await services.images.toMask(original, size);
  if (bytes === original) return mask;
  // One mask can be scaled to several images of a run.
  const sizeSuffix = size ? [`${size.width}x${size.height}`] : [];
  const asset_id = deriveId(claim.run_id, "mask", mask.asset_id, ...sizeSuffix);
  const file = await storeFile(services, claim, { asset_id, role: "mask", bytes });
  await insertSourceAsset(services.database, claim, file);
  return file;
}

// Converts a stored output to another format for a response. The copy says what made it, as the stored file does: it is
// marked if that is marked, and signed, with the stored file as its ingredient, if that is signed.
import type { StoredAsset } from "../../db/typed-columns.ts";
import type { ImageDecoder } from "../../files/images/image-decoder.ts";
import type { ProvenanceService } from "../../files/provenance/provenance-service.ts";

type Dependencies = { images: Pick<ImageDecoder, "toFormat">; provenance: ProvenanceService };
type StoredOriginal = { run_id: string; asset: StoredAsset; bytes: Uint8Array };

export async function convertCopy(
  { images, provenance }: Dependencies,
  { run_id, asset, bytes: original }: StoredOriginal,
  media_type: "image/png" | "image/jpeg" | "image/webp",
): Promise<Uint8Array> {
  const bytes = await images.toFormat(original, media_type);
  if (!asset.provenance) return bytes;
  const ids = { run_id, asset_id: asset.asset_id };
  const mark = { ...ids, digitalSourceType: asset.provenance.digital_source_type };
  const marked = provenance.mark({ bytes, received: { bytes, media_type }, mark, media_type }).bytes;
  if (asset.provenance.status !== "signed" || !provenance.canSign) return marked;
  return provenance.signCopy({ ...ids, bytes: marked, media_type }, { bytes: original, media_type: asset.media_type });
}

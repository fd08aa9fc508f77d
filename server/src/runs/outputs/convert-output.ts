// Says which media types the results of a task can have, and converts those of tasks for which the API promises a
// format, whatever the provider sent. Decoding happens in isolated processes.
import type { Task } from "../../contract/operation.ts";
import type { MediaKind } from "../../contract/pinned-model.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import type { ImageDecoder } from "../../files/images/image-decoder.ts";
import type { ProvenanceService } from "../../files/provenance/provenance-service.ts";

/** Returns undefined for a mask that marks nothing: the provider found no object. */
export async function convertOutput(
  images: Pick<ImageDecoder, "toPng" | "toFoundMask">,
  task: Task | undefined,
  bytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (task === "image.remove-background") return images.toPng(bytes);
  if (task !== "image.segment") return bytes;
  const mask = await images.toFoundMask(bytes);
  return mask.isEmpty ? undefined : mask.bytes;
}

const READ_TYPES = ["image/png", "image/jpeg", "image/webp"];
/** Their results are converted. */
const CONVERTED: readonly Task[] = ["image.remove-background", "image.segment"];

/**
 * Why a result cannot have this media type: it is of another kind than the task announces, or it would have to be
 * converted and Gesso does not read it. A paid result in any other format is delivered as it is.
 */
export function findResultProblem(
  task: Task | undefined,
  mediaType: string,
  announced: MediaKind = "file",
): string | undefined {
  const kind = task?.split(".")[0];
  if (task === "model.run") return findKindProblem(announced, mediaType);
  const isRead = READ_TYPES.includes(mediaType);
  // Spool files of earlier versions do not name the task.
  if (kind === undefined) return isRead || mediaType === "video/mp4" ? undefined : "unsupported_format";
  if (kind === "video") return mediaType.startsWith("video/") ? undefined : "not_a_video";
  const isDelivered = mediaType.startsWith("image/") && !CONVERTED.includes(task!);
  return isRead || isDelivered ? undefined : "unsupported_image_format";
}

/** Of other kinds, the first bytes say too little: weights and many scenes look like any file. */
const JUDGED_KINDS: readonly MediaKind[] = ["image", "video", "audio"];

/** An animated GIF is a video for a provider and an image by its media type. */
const findKindProblem = (kind: MediaKind, mediaType: string): string | undefined => {
  const isOfKind = mediaType.startsWith(`${kind}/`) || (kind === "video" && mediaType === "image/gif");
  return JUDGED_KINDS.includes(kind) && !isOfKind ? `not_${kind}` : undefined;
};

type CopyDependencies = { images: Pick<ImageDecoder, "toFormat">; provenance: ProvenanceService };
type StoredOriginal = { run_id: string; asset: StoredAsset; bytes: Uint8Array };

/**
 * Converts a stored output to another format for a response. The copy says what made it, as the stored file does: it
 * is marked if that is marked, and signed, with the stored file as its ingredient, if that is signed.
 */
export async function convertCopy(
  { images, provenance }: CopyDependencies,
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

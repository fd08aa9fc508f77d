// Converts the results of tasks for which the API promises a format, whatever the provider sent. Decoding happens in
// isolated processes.

import type { Task } from "../../contract/operation.ts";
import type { ImageDecoder } from "../../files/images/image-decoder.ts";

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

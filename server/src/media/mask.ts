// Masks say by colour what changes: white does, black stays. Some are made the other way, with transparency: those are
// drawn anew here, once, so that nobody further in has to guess.
import { readGreyAndAlpha, writeGrey } from "./decode.ts";
import { inspectImage } from "./inspect.ts";

/** Nearly black and nearly white count as such: lossy formats and soft edges leave both a little off. */
const NEAR = 32;
/** How many of the visible pixels may be neither before the picture is no drawing in black and white. */
const MOST_GREY = 0.1;

/** The mask by colour, or the same bytes where they are one already. */
export async function colourMask(bytes: Uint8Array): Promise<Uint8Array> {
  const { media_type } = await inspectImage(bytes, { decode: false });
  if (media_type === "image/jpeg") return bytes;
  const pixels = await readGreyAndAlpha(bytes);
  if (!pixels) return bytes;
  const { data, width, height } = pixels;
  const seen = look(data);
  if (seen.isOpaque) return bytes;
  const mask = Buffer.alloc(width * height);
  for (let pixel = 0; pixel < mask.length; pixel++) {
    const [grey, alpha] = [data[pixel * 2]!, data[pixel * 2 + 1]!];
    // White marks on nothing are marks. Anything else that can be seen is what stays, and the holes in it change.
    mask[pixel] = seen.hasWhiteMarks ? Math.round((grey * alpha) / 255) : 255 - alpha;
  }
  return writeGrey(mask, { width, height });
}

/** Whether there is anything to see through, and whether what is seen is a drawing in white, or in black and white. */
function look(data: Uint8Array): { isOpaque: boolean; hasWhiteMarks: boolean } {
  let [visible, white, black, isOpaque] = [0, 0, 0, true];
  for (let at = 0; at < data.length; at += 2) {
    if (data[at + 1]! < 255) isOpaque = false;
    if (data[at + 1]! < 128) continue;
    visible++;
    if (data[at]! >= 255 - NEAR) white++;
    else if (data[at]! <= NEAR) black++;
  }
  return { isOpaque, hasWhiteMarks: white > 0 && visible - white - black <= visible * MOST_GREY };
}

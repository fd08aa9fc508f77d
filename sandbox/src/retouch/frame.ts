// Puts an image into a larger frame: it keeps its place and its pixels, and continues beyond its edges as their
// colours, blurred with the distance.
import sharp from "sharp";
import type { Size } from "../size.ts";
import { asRaw, openPixels, overlayImages, type Pixels } from "../vision/pixels.ts";

/** A frame, and where the upper left corner of the image lies in it; a part outside the frame is cut off. */
export type Frame = Size & { left: number; top: number };

/** The smallest frame of a ratio (width by height) that holds the whole image, with the image in its middle. */
export const frameAround = ({ width, height }: Size, ratio: number): Frame => {
  const wide = Math.max(width, Math.round(height * ratio));
  const tall = Math.max(height, Math.round(width / ratio));
  return { width: wide, height: tall, left: Math.floor((wide - width) / 2), top: Math.floor((tall - height) / 2) };
};

const overlapOf = ({ width, height }: Size, frame: Frame) => {
  const left = Math.max(0, frame.left);
  const top = Math.max(0, frame.top);
  return {
    left,
    top,
    width: Math.min(frame.width, frame.left + width) - left,
    height: Math.min(frame.height, frame.top + height) - top,
  };
};

/** White where the softness is full: far from the image; black in it. */
const distanceMask = async (frame: Frame, inside: ReturnType<typeof overlapOf>, reach: number): Promise<Buffer> => {
  const alpha = Buffer.alloc(frame.width * frame.height);
  for (let y = 0; y < frame.height; y += 1) {
    const downward = Math.max(inside.top - y, y - (inside.top + inside.height - 1), 0);
    for (let x = 0; x < frame.width; x += 1) {
      const across = Math.max(inside.left - x, x - (inside.left + inside.width - 1), 0);
      const share = Math.min(1, Math.hypot(across, downward) / reach);
      alpha[y * frame.width + x] = Math.round(255 * share);
    }
  }
  return alpha;
};

export const outpaint = async (source: Pixels, frame: Frame): Promise<Pixels> => {
  const inside = overlapOf(source, frame);
  const part = await openPixels(source)
    .extract({
      left: inside.left - frame.left,
      top: inside.top - frame.top,
      width: inside.width,
      height: inside.height,
    })
    .raw()
    .toBuffer();
  const extra = {
    left: inside.left,
    top: inside.top,
    right: frame.width - inside.left - inside.width,
    bottom: frame.height - inside.top - inside.height,
  };
  // A mirror image would show the subject and the caption a second time.
  const extended = await sharp(part, asRaw(inside))
    .extend({ ...extra, extendWith: "copy" })
    .raw()
    .toBuffer();
  const most = Math.max(extra.left, extra.top, extra.right, extra.bottom);
  if (most === 0) return { width: frame.width, height: frame.height, rgb: extended };
  const plain = { width: frame.width, height: frame.height, rgb: extended };
  const unit = Math.min(frame.width, frame.height);
  let result: Pixels = plain;
  // Two masks, one after the other: the blur begins gently and is full far from the image.
  for (const [strength, reach] of [
    [0.012, 0.1],
    [0.045, 0.45],
  ] as const) {
    const soft = await openPixels(plain)
      .blur(Math.max(1, unit * strength))
      .raw()
      .toBuffer();
    const alpha = await distanceMask(frame, inside, Math.max(8, unit * reach));
    const veil = await sharp(soft, asRaw(frame)).joinChannel(alpha, asRaw(frame, 1)).raw().toBuffer();
    result = await overlayImages(result, [{ input: veil, ...asRaw(frame, 4) }]);
  }
  return overlayImages(result, [{ input: part, ...asRaw(inside), left: inside.left, top: inside.top }]);
};

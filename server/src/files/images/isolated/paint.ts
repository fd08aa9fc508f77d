// Draws one image onto another. Opaque pixels are copied.
import type { Pixels } from "./pixels.ts";

type PaintPlacement = { left: number; top: number; opacity: number };

export function paint(canvas: Pixels, image: Pixels, { left, top, opacity }: PaintPlacement): void {
  const isCopy = image.isOpaque && opacity === 1;
  for (let row = 0; row < image.height; row++) {
    const from = row * image.width * 4;
    const to = ((top + row) * canvas.width + left) * 4;
    const source = image.data.subarray(from, from + image.width * 4);
    if (isCopy) canvas.data.set(source, to);
    else paintRow(canvas.data.subarray(to, to + source.length), source, opacity);
  }
}

function paintRow(below: Uint8Array, above: Uint8Array, opacity: number): void {
  for (let at = 0; at < above.length; at += 4) {
    const share = (above[at + 3]! / 255) * opacity;
    if (share === 0) continue;
    const rest = (below[at + 3]! / 255) * (1 - share);
    const alpha = share + rest;
    for (let channel = at; channel < at + 3; channel++) {
      below[channel] =
        rest === 0 ? above[channel]! : Math.round((above[channel]! * share + below[channel]! * rest) / alpha);
    }
    below[at + 3] = Math.round(alpha * 255);
  }
}

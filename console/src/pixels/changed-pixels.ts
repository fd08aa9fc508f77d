// Counts the pixels that differ between two images of one size, inside and outside a mask. Two pixels are equal only if
// all four channels are.

/** Pixels as a canvas returns them: four bytes each, row by row. */
export type PixelGrid = { width: number; height: number; data: Uint8ClampedArray };

export type ChangedPixels = {
  /** Pixels that differ where the mask is not black. */
  inside: number;
  /** Pixels that differ where the mask is black. Without a mask, all pixels that differ. */
  outside: number;
  /** Pixels where the mask is black. Without a mask, all pixels. */
  outsideTotal: number;
};

/** Returns undefined if the sizes differ. `mask` has one byte per pixel; 0 is black, which means "stays unchanged". */
export function countChangedPixels(first: PixelGrid, second: PixelGrid, mask?: Uint8Array): ChangedPixels | undefined {
  if (first.width !== second.width || first.height !== second.height) return undefined;
  const [one, other] = [asWords(first), asWords(second)];
  if (mask && mask.length !== one.length) return undefined;
  const counts = { inside: 0, outside: 0, outsideTotal: 0 };
  for (let pixel = 0; pixel < one.length; pixel++) {
    const isInside = mask !== undefined && mask[pixel]! > 0;
    if (!isInside) counts.outsideTotal++;
    if (one[pixel] === other[pixel]) continue;
    if (isInside) counts.inside++;
    else counts.outside++;
  }
  return counts;
}

/** One 32-bit number per pixel, which compares four times as fast as bytes. */
const asWords = ({ data, width, height }: PixelGrid) => new Uint32Array(data.buffer, data.byteOffset, width * height);

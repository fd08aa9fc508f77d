// Converts masks for providers with another convention. In Gesso, white marks the area that changes.
import "./allowed-formats.ts";
import sharp from "sharp";

export const invertMask = (mask: Uint8Array): Promise<Uint8Array> =>
  sharp(mask).negate().toColourspace("b-w").png().toBuffer();

/** A mask whose marked area is transparent, in the size of the image. */
export async function alphaMask(mask: Uint8Array, size: { width: number; height: number }): Promise<Uint8Array> {
  const { width, height } = size;
  // Nearest neighbour and a threshold, because providers look for fully transparent pixels.
  const opaque = await sharp(mask)
    .resize({ width, height, fit: "fill", kernel: "nearest" })
    .toColourspace("b-w")
    .threshold(128)
    .negate()
    .extractChannel(0)
    .raw()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background: "#000000" } })
    .joinChannel(opaque, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

/** A mask whose marked area is both white and transparent, for providers that do not document which one counts. */
export async function whiteTransparentMask(mask: Uint8Array): Promise<Uint8Array> {
  const marks = sharp(mask).toColourspace("b-w").threshold(128).extractChannel(0).raw();
  const { data, info } = await marks.toBuffer({ resolveWithObject: true });
  const pixels = Buffer.alloc(data.length * 4);
  for (const [at, mark] of data.entries()) pixels.set([mark, mark, mark, 255 - mark], at * 4);
  const { width, height } = info;
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

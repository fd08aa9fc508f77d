// Puts images of one height side by side, with twice the pixels of the height that they are shown in.
import sharp from "sharp";

const SCALE = 2;
const GAP = 10 * SCALE;
const RADIUS = 6 * SCALE;

/** Transparent pixels are shown on this colour, which suits a light and a dark page. */
const GROUND = "#e3e2e7";

async function scaled(image: Buffer, height: number): Promise<{ input: Buffer; width: number }> {
  const { data, info } = await sharp(image)
    .flatten({ background: GROUND })
    .toColourspace("srgb")
    .resize({ height, kernel: "lanczos3" })
    .png()
    .toBuffer({ resolveWithObject: true });
  const { width } = info;
  const corners = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${RADIUS}"/></svg>`;
  const input = await sharp(data)
    .ensureAlpha()
    .composite([{ input: Buffer.from(corners), blend: "dest-in" }])
    .png()
    .toBuffer();
  return { input, width };
}

/** `height` is the height that the row is shown in, in pixels of the page. */
export async function drawRow(images: Buffer[], height: number): Promise<Buffer> {
  const shown = await Promise.all(images.map((image) => scaled(image, height * SCALE)));
  let left = 0;
  const layers = shown.map(({ input, width }) => {
    const layer = { input, left, top: 0 };
    left += width + GAP;
    return layer;
  });
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  return sharp({ create: { width: left - GAP, height: height * SCALE, channels: 4, background } })
    .composite(layers)
    .png()
    .toBuffer();
}

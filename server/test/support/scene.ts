// The image that tests use as a source.
import sharp from "sharp";

/** A ground, grey by default, with a red circle on the left and a blue square on the right. */
export const drawScene = (width = 128, height = 96, ground = "#808080"): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: ground } })
    .composite([
      {
        input: drawing(
          width,
          height,
          `<circle cx="${width * 0.25}" cy="${height / 2}" r="${height * 0.25}" fill="#e01020"/>`,
        ),
      },
      {
        input: drawing(
          width,
          height,
          `<rect x="${width * 0.65}" y="${height * 0.3}" width="${width * 0.2}" height="${height * 0.4}" fill="#1030e0"/>`,
        ),
      },
    ])
    .png()
    .toBuffer();

const drawing = (width: number, height: number, shape: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${shape}</svg>`);

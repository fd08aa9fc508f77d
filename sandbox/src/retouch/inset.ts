// Other images inside an image: as photo prints with a white border and a soft shadow, slightly rotated.
import sharp, { type OverlayOptions } from "sharp";
import { round } from "../drawing/scene-context.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { drawText, toDrawableText, widthOf } from "../drawing/stroke-text.ts";
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";
import { uprightSize } from "../vision/pixels.ts";

type InsetImage = { image: Buffer; label?: string | undefined };

const label = (content: string, width: number, top: number, size: number): string => {
  const text = toDrawableText(content).slice(0, 24);
  const left = (width - widthOf(text, size)) / 2;
  return `<g fill="none" stroke="#3a3d46" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${drawText(text, left, top, size)}</g>`;
};

/** One print that fits into the size, including its shadow. */
const printOf = async ({ image, label: words }: InsetImage, space: Size, turn: number): Promise<Buffer> => {
  const size = await uprightSize(image);
  const rim = Math.max(2, Math.round(Math.min(space.width, space.height) * 0.03));
  const foot = words ? rim * 3.4 : rim;
  const scale = Math.min((space.width * 0.84) / size.width, (space.height * 0.84) / size.height);
  const width = Math.max(4, Math.round(size.width * scale) - 2 * rim);
  const height = Math.max(4, Math.round(size.height * scale) - rim - Math.round(foot));
  const pad = rim * 3;
  const sheet = { width: width + 2 * rim, height: Math.round(height + rim + foot) };
  const whole = { width: sheet.width + 2 * pad, height: sheet.height + 2 * pad };
  const paper = (fill: string, shift: number, opacity = 1) =>
    `<rect x="${pad}" y="${round(pad + shift)}" width="${sheet.width}" height="${sheet.height}" rx="${round(rim * 0.4)}" fill="${fill}" fill-opacity="${opacity}"/>`;
  const svg = (content: string) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${whole.width}" height="${whole.height}">${content}</svg>`,
    );
  const shadow = await sharp(svg(paper("#05070d", rim * 0.8, 0.6)))
    .blur(Math.max(0.5, rim * 0.9))
    .png()
    .toBuffer();
  const text = words ? label(words, whole.width, pad + rim + height + rim * 1.1, rim * 1.25) : "";
  const print = await sharp(image)
    .autoOrient()
    .flatten({ background: "#ffffff" })
    .resize({ width, height, fit: "cover" });
  return sharp(shadow)
    .composite([
      { input: svg(paper("#fbfaf7", 0) + text) },
      { input: await print.png().toBuffer(), left: pad + rim, top: pad + rim },
    ])
    .png()
    .toBuffer()
    .then((flat) => sharp(flat).rotate(turn, { background: "#00000000" }).png().toBuffer());
};

/** The prints side by side in a box of the image, in the order given. */
export const drawInsets = async (
  list: readonly InsetImage[],
  box: Box,
  image: Size,
  text: string,
): Promise<OverlayOptions[]> => {
  const random = createSeededRandom(`prints ${text}`);
  const columns = Math.min(list.length, Math.max(1, Math.round(Math.sqrt((list.length * box.width) / box.height))));
  const rows = Math.ceil(list.length / columns);
  const space = { width: box.width / columns, height: box.height / rows };
  return Promise.all(
    list.map(async (entry, index) => {
      const row = Math.floor(index / columns);
      const inRow = Math.min(columns, list.length - row * columns);
      const input = await printOf(entry, space, random.fork(String(index)).between(-4, 4));
      const { width, height } = await sharp(input).metadata();
      const x = box.x + box.width / 2 + (index - row * columns - (inRow - 1) / 2) * space.width - width / 2;
      const y = box.y + (row + 0.5) * space.height - height / 2;
      // An overlay may not reach beyond the image; on a small image the shadow would.
      const left = Math.round(Math.min(Math.max(0, x), Math.max(0, image.width - width)));
      const top = Math.round(Math.min(Math.max(0, y), Math.max(0, image.height - height)));
      const fits = { width: Math.min(width, image.width), height: Math.min(height, image.height) };
      return {
        input: await sharp(input)
          .extract({ left: 0, top: 0, ...fits })
          .toBuffer(),
        left,
        top,
      };
    }),
  );
};

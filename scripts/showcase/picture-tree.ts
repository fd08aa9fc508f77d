// Draws a tree of four runs: solid arrows lead to the parent of a run, broken ones to further runs that it used.
import sharp from "sharp";
import { drawText } from "../../sandbox/src/drawing/stroke-text.ts";

const SCALE = 2;
const SIZE = { width: 900, height: 330 };
const INK = "#4a5266";
const PAPER = "#f6f6f9";

type Box = { x: number; y: number; width: number; height: number };
type TreeImages = Record<"generate" | "extract" | "edit" | "combine", Buffer>;

const BOXES: Record<keyof TreeImages, Box> = {
  generate: { x: 20, y: 100, width: 180, height: 120 },
  extract: { x: 290, y: 12, width: 180, height: 120 },
  edit: { x: 360, y: 180, width: 180, height: 120 },
  combine: { x: 640, y: 118, width: 240, height: 80 },
};

/** From the run to what it was made from. */
const ARROWS: { path: string; tip: string; isReference?: true }[] = [
  { path: "M290 72C240 72 250 142 208 142", tip: "M200 142l11-6v12Z" },
  { path: "M360 240C290 240 280 182 208 182", tip: "M200 182l11-6v12Z" },
  { path: "M640 148C540 120 380 162 208 162", tip: "M200 162l11-6v12Z", isReference: true },
  { path: "M640 184C590 184 600 230 548 230", tip: "M540 230l11-6v12Z", isReference: true },
  { path: "M432 180L412 142", tip: "M407 132l-1 13l11-6Z", isReference: true },
];

const label = (text: string, x: number, y: number) => drawText(text, x, y, 9);

export async function drawTree(images: TreeImages): Promise<Buffer> {
  const boxes = Object.entries(BOXES) as [keyof TreeImages, Box][];
  const layers = await Promise.all(
    boxes.map(async ([name, { x, y, width, height }]) => ({
      input: await sharp(images[name])
        .toColourspace("srgb")
        .resize({ width: width * SCALE, height: height * SCALE, fit: "fill" })
        .png()
        .toBuffer(),
      left: x * SCALE,
      top: y * SCALE,
    })),
  );
  const frames = boxes.map(
    ([, { x, y, width, height }]) => `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="2"/>`,
  );
  const lines = ARROWS.map(
    ({ path, isReference }) => `<path d="${path}"${isReference ? ' stroke-dasharray="8 6"' : ""}/>`,
  );
  const labels = boxes.map(([name, { x, y, height }]) => label(name, x + 2, y + height + 9));
  const legend = label("solid line: parent", 640, 20) + label("broken line: reference", 640, 42);
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width * SCALE}" height="${SIZE.height * SCALE}">`,
    `<g fill="none" stroke="${INK}" stroke-width="2.2">${frames.join("")}${lines.join("")}</g>`,
    `<g fill="${INK}">${ARROWS.map(({ tip }) => `<path d="${tip}"/>`).join("")}</g>`,
    `<g fill="none" stroke="${INK}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${labels.join("")}${legend}</g>`,
    "</svg>",
  ].join("");
  return sharp({
    create: { width: SIZE.width * SCALE, height: SIZE.height * SCALE, channels: 3, background: PAPER },
  })
    .composite([...layers, { input: Buffer.from(svg) }])
    .png()
    .toBuffer();
}

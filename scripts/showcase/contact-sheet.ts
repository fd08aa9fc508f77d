// Draws cards in rows: a thumbnail or a short text, and under it the name of the operation. Letters are the sandbox's
// own, so that the sheet looks the same on a machine without fonts. The sheet has twice the pixels of the size that it
// is laid out for, for screens with a high density.
import sharp, { type OverlayOptions } from "sharp";
import { drawText, toDrawableText, widthOf, wrap } from "../../sandbox/src/drawing/stroke-text.ts";

export type Card = { name: string; caption: string; image?: Buffer; text?: string };

const SCALE = 2;
const COLUMNS = 7;
const THUMB = { width: 200, height: 150 };
const CELL = { width: 224, height: 208 };
const MARGIN = 28;
const HEAD = 74;
const INK = "#26231f";
const FAINT = "#8a8379";
const PAPER = "#f7f4ee";

const strokes = (drawn: string, colour: string, width: number) =>
  `<g fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round">${drawn}</g>`;

const svg = (width: number, height: number, inside: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width * SCALE}" height="${height * SCALE}">${inside}</svg>`,
  );

/** The longest beginning that fits, on one line. */
const oneLine = (text: string, size: number) => wrap(toDrawableText(text), size, THUMB.width, 1)[0] ?? "";

/** Transparent areas show a checkerboard. */
const chequers = `<defs><pattern id="c" width="16" height="16" patternUnits="userSpaceOnUse"><rect width="16" height="16" fill="#ffffff"/>
  <path d="M0 0H8V8H0ZM8 8H16V16H8Z" fill="#e3ded5"/></pattern></defs>`;

async function thumbnail({ image, text }: Card): Promise<{ input: Buffer; width: number; height: number }> {
  if (!image) return { input: await renderTextCard(text ?? ""), ...THUMB };
  const small = await sharp(image)
    .resize({ width: THUMB.width * SCALE, height: THUMB.height * SCALE, fit: "inside" })
    .ensureAlpha()
    .png()
    .toBuffer();
  const pixels = await sharp(small).metadata();
  const [width, height] = [pixels.width / SCALE, pixels.height / SCALE];
  const ground = svg(width, height, `${chequers}<rect width="100%" height="100%" fill="url(#c)"/>`);
  return {
    input: await sharp(ground)
      .composite([{ input: small }])
      .png()
      .toBuffer(),
    width,
    height,
  };
}

function renderTextCard(text: string): Promise<Buffer> {
  const [size, leading, inset] = [7.5, 15, 12];
  const lines = text
    .split("\n")
    .flatMap((line) => wrap(toDrawableText(line), size, THUMB.width - 2 * inset, 8))
    .slice(0, 8);
  const drawn = lines.map((line, row) => drawText(line, inset, inset + row * leading, size)).join("");
  const card = `<rect x=".5" y=".5" width="${THUMB.width - 1}" height="${THUMB.height - 1}" rx="4" fill="#ffffff" stroke="#ddd6ca"/>`;
  return sharp(svg(THUMB.width, THUMB.height, card + strokes(drawn, INK, 1.9)))
    .png()
    .toBuffer();
}

export async function renderContactSheet(title: string, cards: Card[]): Promise<Buffer> {
  const rows = Math.ceil(cards.length / COLUMNS);
  const width = COLUMNS * CELL.width + 2 * MARGIN - (CELL.width - THUMB.width);
  const height = HEAD + rows * CELL.height + MARGIN;
  const layers: OverlayOptions[] = [];
  const names: string[] = [];
  const captions: string[] = [];
  for (const [index, card] of cards.entries()) {
    const x = MARGIN + (index % COLUMNS) * CELL.width;
    const y = HEAD + Math.floor(index / COLUMNS) * CELL.height;
    const shown = await thumbnail(card);
    const left = Math.round((x + (THUMB.width - shown.width) / 2) * SCALE);
    layers.push({ input: shown.input, left, top: Math.round((y + THUMB.height - shown.height) * SCALE) });
    names.push(drawText(oneLine(card.name, 9), x, y + THUMB.height + 13, 9));
    captions.push(drawText(oneLine(card.caption, 6.5), x, y + THUMB.height + 32, 6.5));
  }
  const head = drawText(title, MARGIN, 28, 17);
  const rule = `<path d="M${MARGIN + widthOf(title, 17) + 16} 37H${width - MARGIN}" stroke="#ddd6ca"/>`;
  const text = [
    strokes(head, INK, 2.1),
    rule,
    strokes(names.join(""), INK, 2.1),
    strokes(captions.join(""), FAINT, 1.9),
  ];
  return sharp({ create: { width: width * SCALE, height: height * SCALE, channels: 3, background: PAPER } })
    .composite([...layers, { input: svg(width, height, text.join("")) }])
    .webp({ quality: 86, effort: 6 })
    .toBuffer();
}

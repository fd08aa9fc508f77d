// Small PNG files for commands that take images: a red disc, and a mask of it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

const SIDE = 128;
const RADIUS = 40;

const isInDisc = (x: number, y: number) => (x - SIDE / 2) ** 2 + (y - SIDE / 2) ** 2 < RADIUS ** 2;

function encodePng(colorAt: (isDisc: boolean) => number[]): Buffer {
  const rows = Array.from({ length: SIDE }, (_, y) => [
    0,
    ...Array.from({ length: SIDE }, (_pixel, x) => colorAt(isInDisc(x, y))).flat(),
  ]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE, 0);
  head.writeUInt32BE(SIDE, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const body = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** The names are those of the examples in the contract. */
export function drawExampleImages(folder: string): void {
  const disc = encodePng((isDisc) => (isDisc ? [220, 30, 30] : [235, 235, 235]));
  const mask = encodePng((isDisc) => (isDisc ? [255, 255, 255] : [0, 0, 0]));
  for (const name of ["desk", "portrait", "shapes", "lamp", "beach"]) writeFileSync(join(folder, `${name}.png`), disc);
  writeFileSync(join(folder, "mask.png"), mask);
}

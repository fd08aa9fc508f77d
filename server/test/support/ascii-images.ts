// Small images written as letters, and results read back as letters: a golden image that a reader can check by eye.
import sharp from "sharp";
import type { Job } from "../../src/contract/operation.ts";
import type { Asset, JobDone } from "../../src/providers/provider.ts";

export type Pixel = [red: number, green: number, blue: number, alpha: number];

/** `.` is nothing at all; small letters are half transparent; `h` hides a colour under full transparency. */
const COLOURS: Record<string, Pixel> = {
  ".": [0, 0, 0, 0],
  R: [255, 0, 0, 255],
  G: [0, 255, 0, 255],
  B: [0, 0, 255, 255],
  K: [0, 0, 0, 255],
  W: [255, 255, 255, 255],
  r: [255, 0, 0, 128],
  b: [0, 0, 255, 128],
  h: [10, 20, 30, 0],
  o: [12, 34, 56, 77],
};

/** One letter is a square of `scale` pixels. Drawn opaque unless a letter needs alpha. */
export const imageFromLetters = async (rows: string[], scale = 8): Promise<Buffer> => {
  const [width, height] = [rows[0]!.length * scale, rows.length * scale];
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const letter = rows[Math.floor(y / scale)]![Math.floor(x / scale)]!;
      data.set(COLOURS[letter]!, (y * width + x) * 4);
    }
  }
  const image = sharp(data, { raw: { width, height, channels: 4 } });
  if (rows.every((row) => /^[A-Z]+$/.test(row))) image.removeAlpha();
  return image.png().toBuffer();
};

/** A mask from grey values, one for each square. */
export const maskFromGreyValues = (rows: number[][], scale = 8): Promise<Buffer> => {
  const [width, height] = [rows[0]!.length * scale, rows.length * scale];
  const data = Buffer.alloc(width * height, 0);
  for (let at = 0; at < data.length; at++) {
    data[at] = rows[Math.floor(Math.floor(at / width) / scale)]![Math.floor((at % width) / scale)]!;
  }
  return sharp(data, { raw: { width, height, channels: 1 } }).toColourspace("b-w").png().toBuffer();
};

export type DecodedImage = { width: number; height: number; data: Buffer; at(x: number, y: number): number[] };

export const decodeImage = async (bytes: Uint8Array): Promise<DecodedImage> => {
  const image = sharp(bytes).toColourspace("srgb").ensureAlpha().raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return { width, height, data, at: (x, y) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)] };
};

/** The result as letters again. Every pixel of a square must agree, or the square is shown as `?`. */
export const lettersFromImage = async (bytes: Uint8Array, scale = 8): Promise<string[]> => {
  const { width, height, at } = await decodeImage(bytes);
  const letterOf = (pixel: number[]) =>
    Object.entries(COLOURS).find(([, colour]) => colour.join() === pixel.join())?.[0] ?? "?";
  return Array.from({ length: Math.ceil(height / scale) }, (_, row) =>
    Array.from({ length: Math.ceil(width / scale) }, (_, column) => {
      const found = new Set<string>();
      for (let y = row * scale; y < Math.min((row + 1) * scale, height); y++) {
        for (let x = column * scale; x < Math.min((column + 1) * scale, width); x++) found.add(letterOf(at(x, y)));
      }
      return found.size === 1 ? [...found][0] : "?";
    }).join(""),
  );
};

export const greyValuesFromImage = async (bytes: Uint8Array, scale = 8): Promise<number[][]> => {
  const { width, height, at } = await decodeImage(bytes);
  return Array.from({ length: height / scale }, (_, row) =>
    Array.from({ length: width / scale }, (_, column) => at(column * scale, row * scale)[0]!),
  );
};

export const assetFromBytes = (bytes: Uint8Array): Asset => ({
  asset_id: "0",
  media_type: "image/png",
  url: async () => "",
  bytes: async () => bytes,
});

/** A job as an adapter gets it, from plain bytes. */
export const createJob = (
  task: Job["task"],
  { images, mask, masks, options }: { images: Uint8Array[]; mask?: Uint8Array; masks?: Uint8Array[]; options?: object },
): Job<Asset> => ({
  task,
  model: "local",
  images: images.map(assetFromBytes),
  mask: mask && assetFromBytes(mask),
  masks: masks?.map(assetFromBytes),
  options: options as Job["options"],
});

export const outputBytes = (done: JobDone): Uint8Array[] =>
  done.outputs.map((output) => ("bytes" in output ? output.bytes : new Uint8Array()));

// ESRGAN upscales an image and adds detail. It works in tiles, because memory grows with the size. Tiles overlap by
// more than the receptive field of the network, so there are no seams.
import { join } from "node:path";
import sharp from "sharp";
import { z } from "zod";
import { type ImageSize, isStorableSize } from "../../../files/formats/image-size.ts";
import { type Box, type Pixels, readPixels, writePixels } from "../../../files/images/isolated/pixels.ts";
import { rejectInput } from "../local-task.ts";
import { type ModelRuntime, requireFromFolder, SESSION_OPTIONS, type Session } from "../model-packages.ts";
import type { OpenModel } from "../model-process.ts";
import { readEsrgan } from "./esrgan-network.ts";

const Options = z.object({ factor: z.union([z.literal(2), z.literal(4)]).default(2) });

const tile = 192;
/** The receptive field of the network is 10 pixels. */
const around = 12;

export async function openEsrgan(folder: string): Promise<OpenModel> {
  const runtime = requireFromFolder<ModelRuntime>(folder, "onnxruntime-node");
  const sessions = new Map<number, Promise<Session>>();
  const sessionFor = (factor: number): Promise<Session> => {
    const network = join(folder, "node_modules/@upscalerjs/esrgan-slim/models", `x${factor}`);
    const known = sessions.get(factor) ?? runtime.InferenceSession.create(readEsrgan(network), SESSION_OPTIONS);
    sessions.set(factor, known);
    return known;
  };

  return async ({ image, options }) => {
    const { success, data } = Options.safeParse(options);
    if (!success) throw rejectInput("options");
    const { factor } = data;
    const source = await readPixels(image);
    const size = { width: source.width * factor, height: source.height * factor };
    // No offer can do this: the result would be larger than any image that Gesso stores.
    if (!isStorableSize(size)) throw rejectInput("image_too_large");
    const session = await sessionFor(factor);
    const large = await enlarged(source, size);
    for (const part of tilesOf(source)) {
      const planes = new runtime.Tensor("float32", toPlanes(source, part), [1, 3, part.height, part.width]);
      const outputs = await session.run({ [session.inputNames[0]!]: planes });
      place(outputs[session.outputNames[0]!]!.data, { large, part, factor });
    }
    return writePixels(large, "png");
  };
}

/** Alpha is resized normally; the network has only color channels. */
async function enlarged(source: Pixels, size: ImageSize): Promise<Pixels> {
  const { width, height } = source;
  if (source.isOpaque) return { ...size, data: Buffer.alloc(size.width * size.height * 4, 255), isOpaque: true };
  const image = sharp(source.data, { raw: { width, height, channels: 4 } }).resize({ ...size, fit: "fill" });
  return { ...size, data: await image.raw().toBuffer(), isOpaque: false };
}

/** The output area of a tile, and its input area with margin. */
type Tile = Box & { inner: Box };

function* tilesOf({ width, height }: ImageSize): Generator<Tile> {
  for (let y = 0; y < height; y += tile) {
    for (let x = 0; x < width; x += tile) {
      const inner = { x, y, width: Math.min(tile, width - x), height: Math.min(tile, height - y) };
      const [left, top] = [Math.max(0, x - around), Math.max(0, y - around)];
      const right = Math.min(width, x + inner.width + around);
      const bottom = Math.min(height, y + inner.height + around);
      yield { x: left, y: top, width: right - left, height: bottom - top, inner };
    }
  }
}

function toPlanes({ data, width }: Pixels, part: Tile): Float32Array {
  const area = part.width * part.height;
  const planes = new Float32Array(3 * area);
  for (let at = 0; at < area; at++) {
    const from = ((part.y + Math.floor(at / part.width)) * width + part.x + (at % part.width)) * 4;
    for (let plane = 0; plane < 3; plane++) planes[plane * area + at] = data[from + plane]! / 255;
  }
  return planes;
}

function place(drawn: Float32Array, { large, part, factor }: { large: Pixels; part: Tile; factor: number }): void {
  const [width, area] = [part.width * factor, part.width * part.height * factor * factor];
  const { inner } = part;
  for (let y = inner.y * factor; y < (inner.y + inner.height) * factor; y++) {
    for (let x = inner.x * factor; x < (inner.x + inner.width) * factor; x++) {
      const from = (y - part.y * factor) * width + x - part.x * factor;
      const to = (y * large.width + x) * 4;
      for (let plane = 0; plane < 3; plane++) {
        large.data[to + plane] = Math.max(0, Math.min(255, Math.round(drawn[plane * area + from]! * 255)));
      }
    }
  }
}

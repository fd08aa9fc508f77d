// ISNet finds the foreground of an image: a network with 1024 × 1024 inputs that returns the foreground share per
// pixel.
import { join } from "node:path";
import sharp from "sharp";
import { cutLayer } from "../../../files/images/isolated/cut.ts";
import { readPixels, writePixels } from "../../../files/images/isolated/pixels.ts";
import { type ModelRuntime, requireFromFolder, SESSION_OPTIONS } from "../model-packages.ts";
import type { OpenModel } from "../model-process.ts";

const side = 1024;
const count = side * side;

export async function openIsnet(folder: string): Promise<OpenModel> {
  const runtime = requireFromFolder<ModelRuntime>(folder, "onnxruntime-node");
  const session = await runtime.InferenceSession.create(join(folder, "isnet.onnx"), SESSION_OPTIONS);

  return async ({ image }) => {
    const input = new runtime.Tensor("float32", await toInput(image), [1, 3, side, side]);
    const outputs = await session.run({ [session.inputNames[0]!]: input });
    const source = await readPixels(image);
    const mask = await toMask(outputs[session.outputNames[0]!]!.data, source);
    return writePixels(cutLayer(source, mask, true), "png");
  };
}

/** Three planes (red, green, blue), centered at zero. Transparent pixels are shown on white. */
async function toInput(image: Uint8Array): Promise<Float32Array> {
  const pixels = await sharp(image)
    .toColourspace("srgb")
    .flatten({ background: "#ffffff" })
    .resize({ width: side, height: side, fit: "fill", kernel: "cubic" })
    .raw({ depth: "uchar" })
    .toBuffer();
  const planes = new Float32Array(3 * count);
  for (let pixel = 0; pixel < count; pixel++) {
    for (let plane = 0; plane < 3; plane++) planes[plane * count + pixel] = (pixels[pixel * 3 + plane]! - 128) / 256;
  }
  return planes;
}

const toMask = (shares: Float32Array, { width, height }: { width: number; height: number }): Promise<Uint8Array> =>
  sharp(
    Uint8Array.from(shares, (share) => Math.max(0, Math.min(255, Math.round(share * 255)))),
    {
      raw: { width: side, height: side, channels: 1 },
    },
  )
    .resize({ width, height, fit: "fill" })
    .toColourspace("b-w")
    .raw({ depth: "uchar" })
    .toBuffer();

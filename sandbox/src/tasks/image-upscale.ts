// A larger image with the same content, a little sharper than mere enlarging would leave it.
import sharp from "sharp";
import { z } from "zod";
import type { Size } from "../size.ts";
import { uprightSize } from "../vision/pixels.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({ factor: z.union([z.literal(2), z.literal(4)]).default(2) });

const mostPixels = 48_000_000;
const longestSide = 16_384;

/** The factor is reduced if the result would exceed the maximum size. */
export const enlarged = ({ width, height }: Size, factor: number): Size => {
  const most = Math.min(Math.sqrt(mostPixels / (width * height)), longestSide / Math.max(width, height));
  const scale = Math.max(1, Math.min(factor, most));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
};

export const imageUpscale: Task = {
  name: "image.upscale",
  validate: (request) => findRequestProblem(request, { image: true, options: Options }),
  find: async ({ request, inputs }) =>
    imageOutputs(request, enlarged(await uprightSize((await inputs())[0]!), parseOptions(Options, request).factor)),
  renderOutput: async ({ request, inputs }) => {
    const image = (await inputs())[0]!;
    const size = enlarged(await uprightSize(image), parseOptions(Options, request).factor);
    return sharp(image)
      .autoOrient()
      .toColourspace("srgb")
      .resize({ ...size, fit: "fill", kernel: "lanczos3" })
      .sharpen({ sigma: 1, m1: 0.4, m2: 1.2 })
      .png({ compressionLevel: 6 })
      .toBuffer();
  },
};

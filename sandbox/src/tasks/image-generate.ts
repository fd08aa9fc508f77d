// An image from words; images that come with the words lend it their colours. `upscale_factor` enlarges what was drawn.
import sharp from "sharp";
import { z } from "zod";
import { drawImage } from "../drawing/draw-image.ts";
import type { StoredRequest } from "../request.ts";
import { resolveSize, type Size } from "../size.ts";
import { dominantColours } from "../vision/dominant.ts";
import { enlarged } from "./image-upscale.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({ upscale_factor: z.number().min(1).max(4).default(1) });

const finalSize = (request: StoredRequest): Size =>
  enlarged(resolveSize(request), parseOptions(Options, request).upscale_factor);

export const imageGenerate: Task = {
  name: "image.generate",
  validate: (request) => findRequestProblem(request, { prompt: true, options: Options }),
  find: async ({ request }) => imageOutputs(request, finalSize(request)),
  renderOutput: async ({ request, seed, index, inputs }) => {
    const images = request.images.length ? (await inputs()).slice(0, Math.min(2, request.images.length)) : [];
    const tints = (await Promise.all(images.map((image) => dominantColours(image, 1)))).flat();
    const [drawn, size] = [resolveSize(request), finalSize(request)];
    const image = await drawImage({ prompt: request.prompt, model: request.model, ...drawn, seed, index, tints });
    if (size.width === drawn.width && size.height === drawn.height) return image;
    return sharp(image)
      .resize({ ...size, fit: "fill" })
      .png({ compressionLevel: 6 })
      .toBuffer();
  },
};

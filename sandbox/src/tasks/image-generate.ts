// An image from words; images that come with the words lend it their colours.
import { drawImage } from "../drawing/draw-image.ts";
import { resolveSize } from "../size.ts";
import { dominantColours } from "../vision/dominant.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs } from "./task-requirements.ts";

export const imageGenerate: Task = {
  name: "image.generate",
  validate: (request) => findRequestProblem(request, { prompt: true }),
  find: async ({ request }) => imageOutputs(request, resolveSize(request)),
  renderOutput: async ({ request, seed, index, inputs }) => {
    const images = request.images.length ? (await inputs()).slice(0, Math.min(2, request.images.length)) : [];
    const tints = (await Promise.all(images.map((image) => dominantColours(image, 1)))).flat();
    return drawImage({ prompt: request.prompt, model: request.model, ...resolveSize(request), seed, index, tints });
  },
};

// A picture from words; images that come with the words lend it their colours.
import { drawPicture } from "../picture/picture.ts";
import { dominantColours } from "../sight/dominant.ts";
import { sizeOf } from "../size.ts";
import type { Task } from "./task.ts";
import { complaintAbout, pictures } from "./terms.ts";

export const imageGenerate: Task = {
  name: "image.generate",
  complaint: (request) => complaintAbout(request, { prompt: true }),
  find: async ({ request }) => pictures(request, sizeOf(request)),
  draw: async ({ request, seed, index, inputs }) => {
    const images = request.images.length ? (await inputs()).slice(0, Math.min(2, request.images.length)) : [];
    const tints = (await Promise.all(images.map((image) => dominantColours(image, 1)))).flat();
    return drawPicture({ prompt: request.prompt, model: request.model, ...sizeOf(request), seed, index, tints });
  },
};

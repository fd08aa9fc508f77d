// A picture from words; images that come with the words lend it their colours.
import sharp from "sharp";
import { drawPicture } from "../picture/picture.ts";
import { sizeOf } from "../size.ts";
import type { Task } from "./task.ts";

const dominantColour = async (image: Buffer): Promise<string> => {
  const { dominant } = await sharp(image).stats();
  return `#${[dominant.r, dominant.g, dominant.b].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
};

export const imageGenerate: Task = {
  name: "image.generate",
  complaint: (request) => (request.prompt === undefined ? "prompt: is required" : undefined),
  outputs: (request) =>
    Array.from({ length: request.count }, () => ({
      media_type: "image/png",
      extension: "png",
      ...sizeOf(request),
    })),
  draw: async ({ request, seed, index, inputs }) => {
    const images = request.images.length ? await inputs() : [];
    const tints = await Promise.all(images.slice(0, Math.min(2, request.images.length)).map(dominantColour));
    return drawPicture({ prompt: request.prompt, model: request.model, ...sizeOf(request), seed, index, tints });
  },
};

// `images.generate` for the OpenAI-compatible API, whose `n` goes up to 10. It is not in the public contract; requests
// for up to 4 images use `images.generate` itself.
import { z } from "zod";
import type { Operation } from "../../contract/operation.ts";
import { generateImage } from "../images/generate.ts";

export const generateForOpenAi: Operation = {
  ...generateImage,
  name: "images.generate.openai",
  input: generateImage.input.extend({
    batch_size: z.int().min(1).max(10).default(1).describe("Number of images, 1 to 10. Default: 1"),
  }),
};

// A richer prompt in the same words, with a list of what was added.
import { z } from "zod";
import { enhance } from "../words/enhance.ts";
import type { Task } from "./task.ts";
import { complaintAbout, noPictures, optionsOf } from "./terms.ts";

const Options = z.object({
  model_type: z.string().optional(),
  style: z.string().optional(),
  language: z.string().optional(),
});

export const promptEnhance: Task = {
  name: "prompt.enhance",
  complaint: (request) => {
    if (request.prompt !== undefined && !request.prompt.trim()) return "prompt: is empty";
    return complaintAbout(request, { prompt: true, options: Options });
  },
  find: async ({ request, seed }) => {
    const { model_type, style, language } = optionsOf(Options, request);
    const data = enhance({ prompt: request.prompt, seed, style, modelType: model_type, language });
    return { outputs: [], data };
  },
  draw: noPictures,
};

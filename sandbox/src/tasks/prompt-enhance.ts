// A richer prompt in the same words, with a list of what was added.
import { z } from "zod";
import { enhance } from "../text/enhance-prompt.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, noFileOutputs, parseOptions } from "./task-requirements.ts";

const Options = z.object({
  model_type: z.string().optional(),
  style: z.string().optional(),
  language: z.string().optional(),
});

export const promptEnhance: Task = {
  name: "prompt.enhance",
  validate: (request) => {
    if (request.prompt !== undefined && !request.prompt.trim()) return "prompt: is empty";
    return findRequestProblem(request, { prompt: true, options: Options });
  },
  find: async ({ request, seed }) => {
    const { model_type, style, language } = parseOptions(Options, request);
    const data = enhance({ prompt: request.prompt, seed, style, modelType: model_type, language });
    return { outputs: [], data };
  },
  renderOutput: noFileOutputs,
};

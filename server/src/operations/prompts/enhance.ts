import { z } from "zod";
import {
  executingModel,
  knownOrOtherModel,
  promptField,
  seed,
  syncRunFields,
  textField,
} from "../../contract/fields.ts";
import { DEFAULT_MODELS, modelIds } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { Enhancement } from "../../contract/schemas/run.ts";

export const enhancePrompt = defineRun({
  name: "prompts.enhance",
  summary: "Enhance a prompt with details for a better image",
  http: { method: "POST", path: "/prompts/enhance", bodies: ["json"] },
  run_type: "prompt-enhancement",

  input: z.object({
    prompt: promptField("Prompt to enhance, 1 to 8,000 characters"),
    model_type: knownOrOtherModel(modelIds)
      .default("flux-dev")
      .describe("Model that the prompt is for. Default: flux-dev"),
    style: textField("Style of the image, at most 200 characters", 200).optional(),
    language: textField("Language of the enhanced prompt, such as en or de", 64).optional(),
    seed: seed(),
    model: executingModel(),
    ...syncRunFields,
  }),
  output: Enhancement,
  example: { prompt: "a cat", style: "watercolour" },

  plan: (input, provided) => [
    {
      task: "prompt.enhance",
      model: input.model ?? DEFAULT_MODELS["prompt.enhance"],
      prompt: input.prompt,
      seed: input.seed,
      options: { model_type: input.model_type, ...pickProvided(input, provided, ["style", "language"]) },
    },
  ],
  resultFields: ["enhanced_prompt", "changes"],
  renderResponse: (run, { data }) => ({
    run_id: run.run_id,
    status: run.status,
    prompt: run.inputs.prompt,
    model_type: run.inputs.model_type,
    ...(data && { enhanced_prompt: data.enhanced_prompt, changes: data.changes }),
    ...(run.error && { error: run.error }),
  }),
});

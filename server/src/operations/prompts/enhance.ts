import { z } from "zod";
import { promptField, runFields, seed, textField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { Enhancement } from "../../kit/schemas/run.ts";
import { modelIds } from "../../models.ts";

export const enhancePrompt = defineOperation({
  name: "prompts.enhance",
  summary: "Make a prompt say more, for a better picture",
  http: { method: "POST", path: "/prompts/enhance", bodies: ["json"] },
  run_type: "prompt-enhancement",

  input: z.object({
    prompt: promptField("The prompt as it is"),
    model_type: z.enum(modelIds).default("flux-dev").describe("The model that the prompt is for"),
    style: textField("Style that the picture should have", 200).optional(),
    language: textField("Language of the better prompt, such as en or de", 64).optional(),
    seed: seed(),
    ...runFields,
  }),
  output: Enhancement,
  example: { prompt: "a cat", style: "watercolour", sync: true },

  plan: (asked, given) => [
    {
      task: "prompt.enhance",
      model: "enhance-default",
      prompt: asked.prompt,
      seed: asked.seed,
      options: { model_type: asked.model_type, ...pickProvided(asked, given, ["style", "language"]) },
    },
  ],
  renderResponse: (run, { data }) => ({
    run_id: run.run_id,
    status: run.status,
    prompt: run.inputs.prompt,
    model_type: run.inputs.model_type,
    ...(data && { enhanced_prompt: data.enhanced_prompt, changes: data.changes }),
    ...(run.error && { error: run.error }),
  }),
});

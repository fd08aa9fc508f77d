import { z } from "zod";
import { everyRun, prompt, seed, words } from "../../kit/fields.ts";
import { givenOf } from "../../kit/given.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Enhancement } from "../../kit/shapes.ts";
import { modelIds } from "../../models.ts";

export const enhancePrompt = defineOperation({
  name: "prompts.enhance",
  summary: "Make a prompt say more, for a better picture",
  http: { method: "POST", path: "/prompts/enhance", bodies: ["json"] },
  run_type: "prompt-enhancement",

  input: z.object({
    prompt: prompt("The prompt as it is"),
    model_type: z.enum(modelIds).default("flux-dev").describe("The model that the prompt is for"),
    style: words("Style that the picture should have", 200).optional(),
    language: words("Language of the better prompt, such as en or de", 64).optional(),
    seed: seed(),
    ...everyRun,
  }),
  output: Enhancement,
  example: { prompt: "a cat", style: "watercolour", sync: true },

  plan: (asked, given) => [
    {
      task: "prompt.enhance",
      model: "enhance-default",
      prompt: asked.prompt,
      seed: asked.seed,
      options: { model_type: asked.model_type, ...givenOf(asked, given, ["style", "language"]) },
    },
  ],
  reply: (run, { data }) => ({
    run_id: run.run_id,
    status: run.status,
    prompt: run.inputs.prompt,
    model_type: run.inputs.model_type,
    ...(data && { enhanced_prompt: data.enhanced_prompt, changes: data.changes }),
    ...(run.error && { error: run.error }),
  }),
});

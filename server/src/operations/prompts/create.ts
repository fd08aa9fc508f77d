import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Prompt, promptName, promptTags, promptText } from "../../kit/schemas/library.ts";
import { modelIds } from "../../models.ts";

export const createPrompt = defineOperation({
  name: "prompts.create",
  summary: "Save a prompt in the library",
  http: { method: "POST", path: "/prompts", bodies: ["json"], status: 201 },
  input: z.object({
    name: promptName(),
    text: promptText(),
    model_type: z.enum(modelIds).nullable().default(null).describe("Model that the prompt is written for"),
    tags: promptTags().default([]),
  }),
  output: Prompt,
  example: { name: "Harbour at dusk", text: "a harbour at dusk, long shadows, film grain", tags: ["harbour", "film"] },
  respond: (input, services) => services.prompts.create(input),
});

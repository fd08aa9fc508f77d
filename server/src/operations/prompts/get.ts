import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Prompt, promptVersion } from "../../kit/schemas/library.ts";

export const getPrompt = defineOperation({
  name: "prompts.get",
  summary: "A prompt of the library, as it is or as it was",
  http: { method: "GET", path: "/prompts/:id" },
  input: z.object({
    id: z.uuid().describe("The prompt"),
    version: promptVersion("This version; the newest where it is left out").optional(),
  }),
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, ask) => ask.prompts.get(input.id, input.version),
});

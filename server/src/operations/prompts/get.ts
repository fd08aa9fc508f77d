import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Prompt, promptVersion } from "../../kit/schemas/library.ts";

export const getPrompt = defineOperation({
  name: "prompts.get",
  summary: "Get a prompt, in its latest or an earlier version",
  http: { method: "GET", path: "/prompts/:id" },
  input: z.object({
    id: z.uuid().describe("ID of the prompt"),
    version: promptVersion("Version number. Default: the latest").optional(),
  }),
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.prompts.get(input.id, input.version),
});

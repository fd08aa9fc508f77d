import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Prompt } from "../../kit/schemas/library.ts";

export const deletePrompt = defineOperation({
  name: "prompts.delete",
  summary: "Delete a prompt and all its versions. Returns the deleted prompt",
  http: { method: "DELETE", path: "/prompts/:id" },
  input: z.object({ id: z.uuid().describe("ID of the prompt") }),
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.prompts.delete(input.id),
});

import { z } from "zod";
import { Prompt } from "../../contract/schemas/library.ts";
import { deletePromptRow } from "../../db/library/prompts.ts";
import { requirePrompt } from "../../library/prompts.ts";
import { defineQuery } from "../define-query.ts";

export const deletePrompt = defineQuery({
  name: "prompts.delete",
  summary: "Delete a prompt and all its versions. Returns the deleted prompt",
  http: { method: "DELETE", path: "/prompts/:id" },
  input: z.object({ id: z.uuid().describe("ID of the prompt") }),
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ id }, { database, caller }) => requirePrompt(await deletePromptRow(database, caller.tenant_id, id)),
});

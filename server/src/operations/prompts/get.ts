import { z } from "zod";
import { Prompt, promptVersion } from "../../contract/schemas/library.ts";
import { findPrompt } from "../../db/library/prompts.ts";
import { requirePrompt } from "../../library/prompts.ts";
import { defineQuery } from "../define-query.ts";

export const getPrompt = defineQuery({
  name: "prompts.get",
  summary: "Get a prompt, in its latest or an earlier version",
  http: { method: "GET", path: "/prompts/:id" },
  input: z.object({
    id: z.uuid().describe("ID of the prompt"),
    version: promptVersion("Version number. Default: the latest").optional(),
  }),
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ id, version }, { database, caller }) =>
    requirePrompt(await findPrompt(database, caller.tenant_id, id, version)),
});

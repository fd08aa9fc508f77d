import { z } from "zod";
import { knownOrOtherModel } from "../../contract/fields.ts";
import { modelIds } from "../../contract/models.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import { Prompt, promptName, promptTags, promptText, promptVersion } from "../../contract/schemas/library.ts";
import { findPrompt, updatePromptRow } from "../../db/library/prompts.ts";
import { Fault } from "../../faults/faults.ts";
import { renderPrompt, requirePrompt, withUniqueTags } from "../../library/prompts.ts";
import { defineQuery } from "../define-query.ts";

export const updatePrompt = defineQuery({
  name: "prompts.update",
  summary: "Change a prompt. Every change creates a new version",
  http: { method: "PATCH", path: "/prompts/:id", bodies: ["json"] },
  input: z.object({
    id: z.uuid().describe("ID of the prompt"),
    name: promptName().optional(),
    text: promptText().optional(),
    model_type: knownOrOtherModel(modelIds)
      .nullable()
      .optional()
      .describe("Model that the prompt is written for. null: none"),
    tags: promptTags().optional(),
    version: promptVersion("Expected current version. The update fails with conflict if it differs").optional(),
  }),
  rules: [atLeastOneChange("name", "text", "model_type", "tags")],
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", text: "a harbour at dawn, long shadows, film grain" },
  async handle({ id, version, ...change }, { database, caller }) {
    const row = await updatePromptRow(database, { ...caller, prompt_id: id, version }, withUniqueTags(change));
    if (row) return renderPrompt(row);
    const current = requirePrompt(await findPrompt(database, caller.tenant_id, id));
    throw new Fault("conflict", { version: current.version });
  },
});

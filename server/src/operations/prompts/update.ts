import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { Prompt, promptName, promptTags, promptText, promptVersion } from "../../kit/schemas/library.ts";
import { modelIds } from "../../models.ts";

export const updatePrompt = defineOperation({
  name: "prompts.update",
  summary: "Change a prompt. Every change creates a new version",
  http: { method: "PATCH", path: "/prompts/:id", bodies: ["json"] },
  input: z.object({
    id: z.uuid().describe("ID of the prompt"),
    name: promptName().optional(),
    text: promptText().optional(),
    model_type: z.enum(modelIds).nullable().optional().describe("Model that the prompt is written for. null: none"),
    tags: promptTags().optional(),
    version: promptVersion("Expected current version. The update fails with conflict if it differs").optional(),
  }),
  rules: [atLeastOneChange("name", "text", "model_type", "tags")],
  output: Prompt,
  example: { id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", text: "a harbour at dawn, long shadows, film grain" },
  respond: ({ id, version, ...change }, services) => services.prompts.update(id, change, version),
});

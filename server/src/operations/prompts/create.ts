import { z } from "zod";
import { knownOrOtherModel } from "../../contract/fields.ts";
import { modelIds } from "../../contract/models.ts";
import { Prompt, promptName, promptTags, promptText } from "../../contract/schemas/library.ts";
import { findPrompt, insertPrompt } from "../../db/library/prompts.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import { renderPrompt, withUniqueTags } from "../../library/prompts.ts";
import type { Ids } from "../../runtime/clock.ts";
import { defineQuery } from "../define-query.ts";

export const createPrompt = defineQuery({
  name: "prompts.create",
  summary: "Save a prompt in the library",
  http: { method: "POST", path: "/prompts", bodies: ["json"], status: 201 },
  input: z.object({
    name: promptName(),
    text: promptText(),
    model_type: knownOrOtherModel(modelIds).nullable().default(null).describe("Model that the prompt is written for"),
    tags: promptTags().default([]),
  }),
  output: Prompt,
  example: { name: "Harbour at dusk", text: "a harbour at dusk, long shadows, film grain", tags: ["harbour", "film"] },
  // A replay returns the prompt in its current state.
  async handle(input, request, { ids }: { ids: Ids }) {
    const { database, caller } = request;
    const draft = withUniqueTags(input);
    const row = await createOnce(request, {
      operation: "prompts.create",
      kind: "prompt",
      input: draft,
      create: (idempotency) => insertPrompt(database, { ...caller, ...draft, prompt_id: ids.next(), idempotency }),
      find: (promptId) => findPrompt(database, caller.tenant_id, promptId),
      missingFault: "prompt_not_found",
    });
    return renderPrompt(row);
  },
});

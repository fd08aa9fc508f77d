import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { textField } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { PromptPage, promptTag } from "../../contract/schemas/library.ts";
import { listPromptRows } from "../../db/library/prompts.ts";
import { renderPrompt } from "../../library/prompts.ts";
import { defineQuery } from "../define-query.ts";

export const listPrompts = defineQuery({
  name: "prompts.list",
  summary: "List prompts of the library, newest first",
  http: { method: "GET", path: "/prompts" },
  input: z.object({
    ...paginationFields,
    tag: promptTag("Only prompts with this tag").optional(),
    q: textField(
      "Only prompts with this text in name or text. Case-insensitive, at most 200 characters",
      200,
    ).optional(),
  }),
  output: PromptPage,
  example: { limit: 20, tag: "harbour" },
  handle: ({ tag, q, ...page }, { cursors, database, caller }) =>
    paginate(cursors, page, {
      scope: ["prompts", caller.tenant_id, tag ?? null, q ?? null],
      read: (before, limit) => listPromptRows(database, caller.tenant_id, { before, tag, q }, limit),
      cursorId: ({ prompt_id }) => prompt_id,
      render: renderPrompt,
    }),
});

import { z } from "zod";
import { textField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { PromptPage, promptTag } from "../../kit/schemas/library.ts";

export const listPrompts = defineOperation({
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
  respond: (input, services) => services.prompts.list(input),
});

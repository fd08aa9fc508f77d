import { z } from "zod";
import { words } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { PromptPage, promptTag } from "../../kit/shapes-library.ts";

export const listPrompts = defineOperation({
  name: "prompts.list",
  summary: "The prompts of the library, newest first",
  http: { method: "GET", path: "/prompts" },
  input: z.object({
    ...perPage,
    tag: promptTag("Only prompts with this tag").optional(),
    q: words("Only prompts with these characters in name or text, in any case", 200).optional(),
  }),
  output: PromptPage,
  example: { limit: 20, tag: "harbour" },
  answer: (input, ask) => ask.prompts.list(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { KeyPage, page } from "../../kit/shapes-access.ts";

export const listKeys = defineOperation({
  name: "keys.list",
  summary: "The keys of the tenant, newest first; those who are not owners see their own",
  http: { method: "GET", path: "/keys" },
  input: z.object(page),
  output: KeyPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.keys.list(input),
});

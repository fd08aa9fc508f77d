import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { KeyPage } from "../../kit/shapes-access.ts";

export const listKeys = defineOperation({
  name: "keys.list",
  summary: "The keys of the tenant, newest first; those who are not owners see their own",
  http: { method: "GET", path: "/keys" },
  input: z.object(perPage),
  output: KeyPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.keys.list(input),
});

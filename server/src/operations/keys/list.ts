import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { ApiKeyPage } from "../../kit/schemas/access.ts";

export const listKeys = defineOperation({
  name: "keys.list",
  summary: "The keys of the tenant, newest first; those who are not owners see their own",
  http: { method: "GET", path: "/keys" },
  input: z.object(paginationFields),
  output: ApiKeyPage,
  example: { limit: 20 },
  respond: (input, ask) => ask.keys.list(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { ApiKeyPage } from "../../kit/schemas/access.ts";

export const listKeys = defineOperation({
  name: "keys.list",
  summary: "List keys, newest first. Owners see all keys of the tenant, other members their own",
  http: { method: "GET", path: "/keys" },
  input: z.object(paginationFields),
  output: ApiKeyPage,
  example: { limit: 20 },
  respond: (input, services) => services.keys.list(input),
});

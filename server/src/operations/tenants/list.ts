import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { TenantPage } from "../../kit/shapes-access.ts";

export const listTenants = defineOperation({
  name: "tenants.list",
  summary: "All tenants, newest first (operator)",
  http: { method: "GET", path: "/tenants" },
  input: z.object(perPage),
  output: TenantPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.tenants.list(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { TenantPage } from "../../kit/schemas/access.ts";

export const listTenants = defineOperation({
  name: "tenants.list",
  summary: "List tenants, newest first (operator)",
  http: { method: "GET", path: "/tenants" },
  input: z.object(paginationFields),
  output: TenantPage,
  example: { limit: 20 },
  respond: (input, services) => services.tenants.list(input),
});

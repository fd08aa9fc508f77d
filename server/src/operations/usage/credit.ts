import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Balance } from "../../kit/schemas/usage.ts";

export const creditTenant = defineOperation({
  name: "tenants.credit",
  summary: "Add to or deduct from a tenant's prepaid balance (operator)",
  http: { method: "POST", path: "/tenants/:tenant_id/credit", bodies: ["json"] },
  input: z.object({
    tenant_id: z.uuid().describe("The tenant"),
    amount: z
      .number()
      .min(-1_000_000)
      .max(1_000_000)
      .describe("US dollars, to a millionth; below zero takes them out, never more than are there"),
    prepaid: z
      .boolean()
      .default(true)
      .describe("Refuse runs that the balance does not cover; false: the tenant is not bound to its balance any more"),
  }),
  output: Balance,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001", amount: 25 },
  respond: ({ tenant_id, ...change }, ask) => ask.credit(tenant_id, change),
});

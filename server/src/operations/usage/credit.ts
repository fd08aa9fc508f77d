import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Balance } from "../../kit/schemas/usage.ts";

export const creditTenant = defineOperation({
  name: "tenants.credit",
  summary: "Add to or deduct from a tenant's prepaid balance (operator)",
  http: { method: "POST", path: "/tenants/:tenant_id/credit", bodies: ["json"] },
  changes: "money",
  input: z.object({
    tenant_id: z.uuid().describe("ID of the tenant"),
    amount: z
      .number()
      .min(-1_000_000)
      .max(1_000_000)
      .describe("US dollars, with up to 6 decimals. A negative amount deducts, at most the balance"),
    prepaid: z
      .boolean()
      .default(true)
      .describe(
        "true: Gesso refuses runs that the balance does not cover. false: the balance does not limit the tenant. Default: true",
      ),
  }),
  output: Balance,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001", amount: 25 },
  respond: ({ tenant_id, ...change }, services) => services.money.credit(tenant_id, change),
});

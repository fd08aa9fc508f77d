import { z } from "zod";
import { Balance } from "../../contract/schemas/usage.ts";
import { creditBalance, findBalance, type TenantBalance } from "../../db/money/ledger.ts";
import { Fault } from "../../faults/faults.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import { toMicrodollars } from "../../runs/offers/cost.ts";
import type { Ids } from "../../runtime/clock.ts";
import { defineQuery } from "../define-query.ts";

export const creditTenant = defineQuery({
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
  // Requests with the same idempotency key are applied once. A replay returns the current balance.
  async handle({ tenant_id, amount, prepaid }, request, { ids }: { ids: Ids }) {
    const { database, caller } = request;
    let availableBefore = 0;
    const { available, is_prepaid } = await createOnce<TenantBalance>(request, {
      operation: "tenants.credit",
      kind: "credit",
      input: { tenantId: tenant_id, amount, prepaid },
      async create(idempotency) {
        const row = await creditBalance(database, caller, {
          ...{ tenant_id, amount: toMicrodollars(amount)!, is_prepaid: prepaid, transfer_id: ids.next() },
          idempotency,
        });
        if (!row) throw new Fault("route_not_found");
        availableBefore = row.available;
        return row.is_applied ? row : undefined;
      },
      find: () => findBalance(database, tenant_id),
      explainRefusal: () => new Fault("insufficient_credits", { balance: availableBefore / 1e6 }),
    });
    return { tenant_id, currency: "USD" as const, balance: available / 1e6, prepaid: is_prepaid };
  },
});

// Credits or debits a tenant's balance, for the operator. Requests with the same idempotency key are applied once.
import type { RequestContext } from "../access/request-context.ts";
import { creditBalance, findBalance, type TenantBalance } from "../db/money/ledger.ts";
import { Fault } from "../faults.ts";
import { createOnce } from "../idempotency/create-once.ts";
import type { Ids } from "../kit/clock.ts";
import type { Balance } from "../kit/schemas/usage.ts";
import { toMicrodollars } from "../runs/cost.ts";

type TenantCreditChange = { tenantId: string; amount: number; prepaid: boolean };

/** A replay returns the current balance. */
export async function applyTenantCredit(
  ids: Ids,
  context: RequestContext,
  { tenantId, amount, prepaid }: TenantCreditChange,
): Promise<Balance> {
  const { database, caller } = context;
  let availableBefore = 0;
  const { available, is_prepaid } = await createOnce<TenantBalance>(context, {
    operation: "tenants.credit",
    kind: "credit",
    input: { tenantId, amount, prepaid },
    async create(idempotency) {
      const row = await creditBalance(database, caller, {
        ...{ tenant_id: tenantId, amount: toMicrodollars(amount)!, is_prepaid: prepaid, transfer_id: ids.next() },
        idempotency,
      });
      if (!row) throw new Fault("route_not_found");
      availableBefore = row.available;
      return row.is_applied ? row : undefined;
    },
    find: () => findBalance(database, tenantId),
    explainRefusal: () => new Fault("insufficient_credits", { balance: availableBefore / 1e6 }),
  });
  return { tenant_id: tenantId, currency: "USD", balance: available / 1e6, prepaid: is_prepaid };
}

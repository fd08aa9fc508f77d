// Credits or debits a tenant's balance, for the operator. Requests with the same idempotency key are applied once.
import type { RequestContext } from "../access/request-context.ts";
import { creditBalance } from "../db/money/ledger.ts";
import { findIdempotencyKey } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { Ids } from "../kit/clock.ts";
import type { Balance } from "../kit/schemas/usage.ts";
import { fingerprintRequest } from "../runs/accept-run.ts";
import { toMicrodollars } from "../runs/cost.ts";

type TenantCreditChange = { tenantId: string; amount: number; prepaid: boolean };

export async function applyTenantCredit(
  ids: Ids,
  { database, caller, idempotencyKey, onReplay }: RequestContext,
  { tenantId, amount, prepaid }: TenantCreditChange,
): Promise<Balance> {
  const fingerprint = fingerprintRequest("tenants.credit", { tenantId, amount, prepaid });
  const row = await creditBalance(database, caller, {
    ...{ tenant_id: tenantId, amount: toMicrodollars(amount)!, is_prepaid: prepaid, transfer_id: ids.next() },
    idempotency: idempotencyKey ? { key: idempotencyKey, fingerprint } : undefined,
  });
  if (!row) throw new Fault("route_not_found");
  if (!row.is_applied) {
    const storedKey = idempotencyKey && (await findIdempotencyKey(database, caller.tenant_id, idempotencyKey));
    if (!storedKey) throw new Fault("insufficient_credits", { balance: row.available / 1e6 });
    if (!storedKey.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
    onReplay();
  }
  return { tenant_id: tenantId, currency: "USD", balance: row.available / 1e6, prepaid: row.is_prepaid };
}

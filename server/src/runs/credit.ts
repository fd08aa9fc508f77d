// The operator's hand on a tenant's balance. The same key moves the money once.
import { credit } from "../db/ledger.ts";
import { type Caller, findKey } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Balance } from "../kit/shapes-money.ts";
import type { House } from "./house.ts";
import { microsOf } from "./money.ts";
import { fingerprintOf } from "./start.ts";

type Context = { caller: Caller; idempotencyKey?: string | undefined; onReplay?: (() => void) | undefined };
type Change = { tenantId: string; amount: number; prepaid: boolean };

export async function creditTenant(
  { db, newId }: Pick<House, "db" | "newId">,
  { caller, idempotencyKey, onReplay }: Context,
  { tenantId, amount, prepaid }: Change,
): Promise<Balance> {
  const fingerprint = fingerprintOf("tenants.credit", { tenantId, amount, prepaid });
  const row = await credit(db, caller, {
    ...{ tenant_id: tenantId, amount: microsOf(amount)!, is_prepaid: prepaid, transfer_id: newId() },
    idempotency: idempotencyKey ? { key: idempotencyKey, fingerprint } : undefined,
  });
  if (!row) throw new Fault("route_not_found");
  if (!row.done) {
    const known = idempotencyKey && (await findKey(db, caller.tenant_id, idempotencyKey));
    if (!known) throw new Fault("insufficient_credits", { balance: row.available / 1e6 });
    if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
    onReplay?.();
  }
  return { tenant_id: tenantId, currency: "USD", balance: row.available / 1e6, prepaid: row.is_prepaid };
}

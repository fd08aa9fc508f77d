// The ledger of one run: its transfers, and the expected charge of each attempt.
import type { Snapshot } from "../snapshot.ts";
import { statement } from "../statement.ts";

const LIST_TRANSFERS = statement(
  "run_ledger.list_transfers",
  `select kind, from_account, to_account, amount, created_at from transfers
   where cause_id = :run_id and tenant_id = :tenant_id and kind <> 'topup'
   order by created_at, array_position(array['reserve', 'settle', 'release', 'waste'], kind)`,
).columns<{ kind: "reserve" | "settle" | "release" | "waste" }>();

const LIST_PRICES = statement(
  "run_ledger.list_prices",
  `select request_index, attempt_number, provider, state, price from attempts
   where run_id = :run_id order by created_at, request_index, attempt_number`,
);

/** Amounts are whole micro-dollars. */
export async function readRunLedger(db: Snapshot, run: { tenant_id: string; run_id: string }) {
  const transfers = await db.execute(LIST_TRANSFERS, { tenant_id: run.tenant_id, run_id: run.run_id });
  const attempts = await db.execute(LIST_PRICES, { run_id: run.run_id });
  return { transfers, attempts };
}

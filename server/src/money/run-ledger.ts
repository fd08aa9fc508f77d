// What a run reserved, was charged and got back, in US dollars.

import type { RunLedger } from "../contract/schemas/usage.ts";
import type { Database } from "../db/connect.ts";
import { readRunLedger } from "../db/money/run-ledger.ts";

const MICRODOLLARS = 1e6;

export async function reportRunLedger(
  database: Database,
  run: { tenant_id: string; run_id: string },
): Promise<RunLedger> {
  const { transfers, attempts } = await readRunLedger(database, run);
  const sumOf = (kind: string) => (transfers.find((each) => each.kind === kind)?.amount ?? 0) / MICRODOLLARS;
  return {
    run_id: run.run_id,
    currency: "USD",
    reserved: sumOf("reserve"),
    charged: sumOf("settle"),
    released: sumOf("release"),
    wasted: sumOf("waste"),
    transfers: transfers.map(({ amount, created_at, ...transfer }) => ({
      ...transfer,
      amount: amount / MICRODOLLARS,
      created_at: created_at.toISOString(),
    })),
    attempts: attempts.map(({ request_index, attempt_number, price, ...attempt }) => ({
      job: request_index,
      try: attempt_number,
      ...attempt,
      price: price === null ? null : price / MICRODOLLARS,
    })),
  };
}

import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { RunLedger } from "../../contract/schemas/usage.ts";
import type { Database } from "../../db/connect.ts";
import { readRunLedger } from "../../db/money/run-ledger.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { defineQuery } from "../define-query.ts";

const MICRODOLLARS = 1e6;

/** What a run reserved, was charged and got back, in US dollars. */
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

export const getRunLedger = defineQuery({
  name: "runs.ledger",
  summary: "Get what a run reserved, was charged and got back, and the prices behind it",
  http: { method: "GET", path: "/runs/:run_id/ledger" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: RunLedger,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ run_id }, request) => reportRunLedger(request.database, await requireOwnRun(request, run_id)),
});

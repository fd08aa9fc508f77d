// Finds ended runs whose charge in the ledger is not what the run cost.

import type { Comparison } from "../../../contract/schemas/reconciliation.ts";
import { listChargesSince } from "../../../db/admin/compare-installation.ts";
import { FIRST_ID } from "../../../db/delete-batches.ts";
import type { ComparisonDependencies, ComparisonScope } from "./comparison-scope.ts";

const PIECE_ROWS = 1000;
/** Half a micro-dollar: amounts in the ledger are whole micro-dollars. */
const TOLERANCE = 0.5e-6;

export async function compareCharges(
  { database }: Pick<ComparisonDependencies, "database">,
  { openSince: since, after, findings, isOver }: ComparisonScope,
): Promise<Comparison> {
  const comparison: Comparison = { of: "charges", provider: null, state: "complete", compared: 0 };
  for (let last = after ?? FIRST_ID; ; ) {
    if (isOver()) return { ...comparison, state: "incomplete" };
    const rows = await listChargesSince(database, { since, after: last, limit: PIECE_ROWS });
    for (const { run_id, tenant_id, status, expected, charged } of rows) {
      if (Math.abs(expected - charged) < TOLERANCE) continue;
      const finding = charged < expected ? "run_unpaid" : "run_overcharged";
      findings.add({ run_id, tenant_id, run_status: status, finding, cost: { expected, charged } });
    }
    comparison.compared += rows.length;
    if (rows.length < PIECE_ROWS) return comparison;
    last = rows.at(-1)!.run_id;
  }
}

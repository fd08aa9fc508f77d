// Checks the ledger's invariants. Violations are never repaired automatically, so they must be reported.
import { type DatabaseUrls, directUrlOf } from "../db/connect.ts";
import { findLedgerViolations } from "../db/money/ledger-check.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { DoctorCheck } from "./report.ts";

const FIX = "do not edit the tables. Back up the database and see `Ledger` in the budgets guide";

export async function checkLedger(settings: DatabaseUrls): Promise<DoctorCheck> {
  const name = "ledger";
  try {
    const violations = (await findLedgerViolations(directUrlOf(settings))).filter((each) => each.violations > 0);
    if (violations.length === 0) return { name, status: "pass", message: "all ledger invariants hold" };
    const message = violations
      .map((each) => `${each.violations} ${each.violations === 1 ? "violation" : "violations"}: ${each.invariant}`)
      .join("; ");
    return { name, status: "fail", message, fix: FIX };
  } catch (thrown) {
    // Before the first start there is no ledger.
    return { name, status: "skip", message: `ledger not readable: ${rootCauseMessage(thrown)}` };
  }
}

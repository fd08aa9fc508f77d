// Checks the ledger of a running Gesso.
import { findLedgerViolations, type LedgerCheck } from "../../src/db/money/ledger-check.ts";

export const checkLedgerOf = (environment: { databaseUrl: string }): Promise<LedgerCheck[]> =>
  findLedgerViolations(environment.databaseUrl);

/** The invariants of the ledger that are violated. */
export const listLedgerViolations = async (environment: { databaseUrl: string }): Promise<LedgerCheck[]> =>
  (await checkLedgerOf(environment)).filter(({ violations }) => violations > 0);

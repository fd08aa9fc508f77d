// Checks the ledger of a running Gesso.
import { connectDatabase } from "../../src/db/connect.ts";
import { findLedgerViolations, type LedgerCheck } from "../../src/db/money/ledger.ts";

export async function checkLedgerOf(environment: { databaseUrl: string }): Promise<LedgerCheck[]> {
  const db = connectDatabase({ DATABASE_URL: environment.databaseUrl, DATABASE_POOL: 2 });
  try {
    return await findLedgerViolations(db);
  } finally {
    await db.close();
  }
}

/** The invariants of the ledger that are violated. */
export const listLedgerViolations = async (environment: { databaseUrl: string }): Promise<LedgerCheck[]> =>
  (await checkLedgerOf(environment)).filter(({ violations }) => violations > 0);

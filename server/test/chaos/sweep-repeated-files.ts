// A step that is repeated after a kill signs its file again, and no two signatures are equal: the first file that was
// saved stays, and the sweep deletes the other one. Runs the server's sweep as if two days had passed.
import { connectDatabase } from "../../src/db/connect.ts";
import { sweepOrphans } from "../../src/runs/upkeep/retention.ts";
import type { CheckResult } from "../support/campaign.ts";
import { createTestRuntime } from "../support/test-runtime.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000;

/** `signatures`: how many were made. Each file that the sweep deletes took one of its own. */
export async function sweepRepeatedFiles(environment: ChaosEnvironment, signatures: number): Promise<CheckResult> {
  const [row] = await environment.query<{ files: number }>(
    "select count(*)::int as files from assets where role = 'result' and deleted_at is null",
  );
  const files = row!.files;
  const database = connectDatabase({ DATABASE_URL: environment.databaseUrl, DATABASE_POOL: 2 });
  const { clock, log } = createTestRuntime();
  const sweep = () =>
    sweepOrphans(
      { database, clock, log, assets: environment, settings: { maxOrphanShare: 1, orphanHoldDays: 0 } },
      { now: Date.now() + TWO_DAYS_MS, confirmSeconds: 0 },
    );
  try {
    // The first one sees the objects, the second one deletes those that are still without a row.
    const deleted = (await sweep()).deleted + (await sweep()).deleted;
    return {
      invariant: "the sweep deletes only files that were signed again",
      passed: files + deleted <= signatures,
      observed: `${deleted} deleted, ${files} kept, ${signatures} signatures`,
    };
  } finally {
    await database.close();
  }
}

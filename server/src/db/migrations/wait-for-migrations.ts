// Waits until another process (`--role migrate`) has applied all migrations of this version. Changes nothing, so the
// account of the application is enough.
import pg from "pg";
import type { Clock } from "../../runtime/clock.ts";
import { findPending, readApplied } from "./migrate.ts";
import { readMigrations } from "./migration-files.ts";

/** A migration that waits for table locks takes up to 3 minutes. */
const DEFAULT_TIMING = { timeoutMs: 300_000, pollMs: 1000 };
/** `undefined_table` and `insufficient_privilege`: the first migration has not ended. */
const NOT_MIGRATED_CODES = ["42P01", "42501"];

/** Returns the migrations that are missing after the timeout. Throws if this version must not run on the schema. */
export async function waitForMigrations(
  url: string,
  clock: Pick<Clock, "sleep">,
  timing = DEFAULT_TIMING,
): Promise<string[]> {
  const migrations = await readMigrations();
  let pollsLeft = Math.floor(timing.timeoutMs / timing.pollMs);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const applied = await readApplied(client).catch((thrown) => {
        if (NOT_MIGRATED_CODES.includes(thrown.code)) return [];
        throw thrown;
      });
      const pending = findPending(migrations, applied);
      if (pending.length === 0 || pollsLeft-- <= 0) return pending.map(({ name }) => name);
      await clock.sleep(timing.pollMs);
    }
  } finally {
    await client.end();
  }
}

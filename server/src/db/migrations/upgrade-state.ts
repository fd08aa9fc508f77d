// What an upgrade to this version meets in the database: migrations to apply, transactions that would delay them, and
// work that operators hold back. Reads only.

import pg from "pg";
import { QUARANTINE_DEADLINE } from "../run-claims.ts";
import { findPending, readApplied } from "./migrate.ts";
import { type Migration, readMigrations } from "./migration-files.ts";

export type UpgradeState = {
  /** The last migration of the version that runs now. */
  current: number;
  pending: Pick<Migration, "name" | "kind" | "lowestProgram">[];
  /** Transactions that have been open for more than a minute. */
  longTransactions: { pid: number; seconds: number }[];
  openRuns: number;
  /** Null if the tables of this version are not there yet. */
  heldBack: { quarantined: number; pauses: number } | null;
};

/** `undefined_table` and `undefined_column`: a migration that is pending creates it. */
const NOT_YET_CODES = ["42P01", "42703"];

/** Throws if this version must not run on the schema. */
export async function readUpgradeState(url: string): Promise<UpgradeState> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const applied = await readApplied(client).catch(orWhenMissing([]));
    const pending = findPending(await readMigrations(), applied);
    const { rows: longTransactions } = await client.query<UpgradeState["longTransactions"][number]>(
      `select pid, extract(epoch from now() - xact_start)::int as seconds from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '1 minute'
       order by xact_start limit 20`,
    );
    const countOpen = client.query<{ open: number }>("select count(*)::int as open from open_runs");
    const openRuns = await countOpen.then(({ rows }) => rows[0]!.open).catch(orWhenMissing(0));
    const countHeld = client.query<{ quarantined: number; pauses: number }>(
      `select (select count(*) from open_runs where deadline_at = $1)::int as quarantined,
         (select count(*) from pauses)::int as pauses`,
      [QUARANTINE_DEADLINE],
    );
    const heldBack = await countHeld.then(({ rows }) => rows[0]!).catch(orWhenMissing(null));
    const current = Math.max(0, ...applied.map(({ name }) => Number(name.slice(0, 4))));
    return { current, pending, longTransactions, openRuns, heldBack };
  } finally {
    await client.end();
  }
}

const orWhenMissing =
  <T>(value: T) =>
  (thrown: { code?: string }): T => {
    if (!NOT_YET_CODES.includes(thrown.code ?? "")) throw thrown;
    return value;
  };

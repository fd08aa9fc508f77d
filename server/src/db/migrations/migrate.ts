// Migrates a database to this version: plain SQL files in order, each once, forward only. One process migrates at a
// time. No migration blocks running processes for longer than `lockMs`: it gives up its locks and tries again. A
// program also starts on a newer schema, as long as the migrations it does not know allow it.
import pg from "pg";
import type { Clock } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from "./migration-files.ts";

const MIGRATION_LOCK = 7_788_001;
const LOCK_POLL_MS = 200;
/** `lock_not_available` and `deadlock_detected`. */
const LOCK_ERRORS = ["55P03", "40P01"];

type MigrationTiming = {
  /** How long a migration waits for a table. Statements of running processes queue behind it for as long. */
  lockMs: number;
  retryMs: number;
  attempts: number;
};
const DEFAULT_TIMING: MigrationTiming = { lockMs: 1000, retryMs: 2000, attempts: 60 };

type MigrationOptions = { folder?: URL; timing?: MigrationTiming; clock?: Pick<Clock, "sleep"> };
type AppliedMigration = { name: string; sha256: string; lowest_program: number };

/** Migrates as the owner of the tables (`url`), and lets the user of `applicationUrl` assume the application roles. */
export async function migrate(
  url: string,
  applicationUrl = url,
  { folder = MIGRATIONS_FOLDER, timing = DEFAULT_TIMING, clock = systemClock }: MigrationOptions = {},
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await lockMigrations(client, clock);
    await client.query(
      `create table if not exists schema_migrations (
         name text primary key, sha256 text not null, lowest_program integer not null)`,
    );
    const pending = findPending(await readMigrations(folder), await readApplied(client));
    for (const migration of pending) await applyMigration(client, migration, { ...timing, clock });
    await grantRoles(client, applicationUrl);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * A session that waits inside `pg_advisory_lock` holds a snapshot, for which `create index concurrently` would wait in
 * turn. So the lock is polled.
 */
async function lockMigrations(client: pg.Client, clock: Pick<Clock, "sleep">): Promise<void> {
  for (;;) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as is_locked", [MIGRATION_LOCK]);
    if (rows[0].is_locked) return;
    await clock.sleep(LOCK_POLL_MS);
  }
}

export async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  return (await client.query("select name, sha256, lowest_program from schema_migrations order by name")).rows;
}

/** Throws if this program must not run on the schema of the database. */
export function findPending(migrations: Migration[], applied: AppliedMigration[]): Migration[] {
  const appliedByName = new Map(applied.map((each) => [each.name, each]));
  const pending = migrations.filter(({ name }) => !appliedByName.has(name));
  for (const { name, sha256 } of migrations) {
    if ((appliedByName.get(name)?.sha256 ?? sha256) !== sha256)
      throw new Error(`migration ${name} was changed after it had been applied`);
  }
  const unknown = applied.filter(({ name }) => !migrations.some((migration) => migration.name === name));
  if (unknown.length === 0) return pending;
  const names = unknown.map(({ name }) => name).join(", ");
  if (pending.length > 0) throw new Error(`the database was migrated by another version (${names})`);
  const ownNumber = Math.max(...migrations.map(({ number }) => number));
  const refused = unknown.filter(({ lowest_program }) => lowest_program > ownNumber).map(({ name }) => name);
  if (refused.length > 0)
    throw new Error(
      `the database was migrated by a newer version (${names}), and ${refused.join(", ")} removed what this version needs. ` +
        "Start the newer version, or restore a backup.",
    );
  return [];
}

async function applyMigration(
  client: pg.Client,
  migration: Migration,
  timing: MigrationTiming & { clock: Pick<Clock, "sleep"> },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await (isConcurrent(migration)
        ? applyConcurrently(client, migration)
        : applyAtOnce(client, migration, timing));
    } catch (thrown) {
      await client.query("rollback");
      if (!LOCK_ERRORS.includes((thrown as { code?: string }).code ?? "")) throw thrown;
      if (attempt >= timing.attempts)
        throw new Error(`migration ${migration.name} could not lock its tables in ${attempt} attempts`, {
          cause: thrown,
        });
      await timing.clock.sleep(timing.retryMs);
    }
  }
}

const recordOf = ({ name, sha256, lowestProgram }: Migration) =>
  `insert into schema_migrations (name, sha256, lowest_program) values ('${name}', '${sha256}', ${lowestProgram})`;

/**
 * New tables get their row-level security in the same transaction, so that no process ever sees them without. The
 * function exists from the last file of the baseline on.
 */
const APPLY_ROW_LEVEL_SECURITY = `do $$ begin
  if to_regproc('apply_row_level_security') is not null then perform apply_row_level_security(); end if;
end $$`;

async function applyAtOnce(client: pg.Client, migration: Migration, { lockMs }: MigrationTiming): Promise<void> {
  const steps = [`set local lock_timeout = ${lockMs}`, migration.sql, APPLY_ROW_LEVEL_SECURITY, recordOf(migration)];
  await client.query(`begin; ${steps.join(";\n")}; commit`);
}

const CONCURRENT_INDEX = /\b(create|drop)\s+(?:unique\s+)?index\s+concurrently\s+(\w+)/i;
const isConcurrent = ({ sql }: Migration) => CONCURRENT_INDEX.test(sql);

/**
 * Builds or drops an index without blocking writes. After an interruption, an invalid index is dropped and built again,
 * and a dropped index is only recorded.
 */
async function applyConcurrently(client: pg.Client, migration: Migration): Promise<void> {
  const [, action, name] = CONCURRENT_INDEX.exec(migration.sql)!;
  await client.query(`drop index concurrently if exists ${pg.escapeIdentifier(name!)}`);
  if (action!.toLowerCase() !== "drop") await client.query(migration.sql);
  await client.query(recordOf(migration));
}

async function grantRoles(client: pg.Client, applicationUrl: string): Promise<void> {
  const user = decodeURIComponent(URL.parse(applicationUrl)?.username ?? "");
  if (user === "" || user === client.user) return;
  const account = pg.escapeIdentifier(user);
  // The account reads which migrations are applied, to wait for those that another process applies.
  await client.query(
    `grant gesso_app, gesso_system, gesso_end_user to ${account}; grant select on schema_migrations to ${account}`,
  );
}

/** A migration that waits for table locks takes up to 3 minutes. */
const DEFAULT_WAIT = { timeoutMs: 300_000, pollMs: 1000 };
/** `undefined_table` and `insufficient_privilege`: the first migration has not ended. */
const NOT_MIGRATED_CODES = ["42P01", "42501"];

/**
 * Waits until another process (`--role migrate`) has applied all migrations of this version. Changes nothing, so the
 * account of the application is enough. Returns the migrations that are missing after the timeout. Throws if this
 * version must not run on the schema.
 */
export async function waitForMigrations(
  url: string,
  clock: Pick<Clock, "sleep">,
  timing = DEFAULT_WAIT,
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

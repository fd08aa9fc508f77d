// One PostgreSQL for all test files of a run: every file gets a copy of a migrated template under its own name. Files
// that need a PostgreSQL of their own start it with a copy of a migrated data directory.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { migrate } from "../../src/db/migrations/migrate.ts";

/** Where test files ask for databases; unset outside Vitest. */
export const SHARED_POSTGRES_VARIABLE = "GESSO_TEST_POSTGRES";

/** Nothing in this cluster outlives the run, so nothing waits for the disk. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

export type TestPostgres = {
  createDatabase(): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
};

/** Creates a migrated data directory, which no process uses. Returns its path. */
export async function createMigratedData(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "gesso-migrated-postgres-"));
  const postgres = await startPostgres({ dataDir, port: await freePort(), settings: SETTINGS });
  await migrate(postgres.url);
  await postgres.stop();
  return dataDir;
}

/** The new directory has a migrated database `gesso`. Creating one takes seconds. Outside Vitest nothing is copied. */
export async function copyMigratedData(directory: string): Promise<void> {
  const shared = process.env[SHARED_POSTGRES_VARIABLE];
  if (!shared) return;
  const response = await fetch(`${shared}/migrated-data`);
  const source = await response.text();
  if (!response.ok) throw new Error(`the migrated data directory: ${source}`);
  mkdirSync(directory, { recursive: true });
  await promisify(execFile)("cp", ["-a", join(source, "data"), join(source, "password"), directory]);
}

export async function startPostgresForTests(): Promise<TestPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), "gesso-shared-postgres-"));
  await copyMigratedData(dataDir);
  const postgres = await startPostgres({ dataDir, port: await freePort(), settings: SETTINGS });
  const urlOf = (database: string) => Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
  const admin = new pg.Pool({ connectionString: urlOf("postgres"), max: 2 });
  // PostgreSQL may stop before the pool has closed its sockets; an error event without a listener would end the
  // process.
  admin.on("error", () => {});
  let count = 0;
  return {
    async createDatabase() {
      const name = `test_${++count}`;
      await admin.query(`create database ${name} template gesso strategy file_copy`);
      return urlOf(name);
    },
    async dropDatabase(name) {
      await admin.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
    },
    async stop() {
      await admin.end();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

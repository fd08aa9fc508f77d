// Migrates a database to this version: plain SQL files in order, each once, forward only. An advisory lock lets one
// process migrate while the others that start at the same time wait.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import pg from "pg";

const FOLDER = new URL("../../migrations/", import.meta.url);
const MIGRATION_LOCK = 7_788_001;
const DAYS_AHEAD = 8;

/** Migrates as the owner of the tables (`url`), and lets the user of `applicationUrl` assume the application roles. */
export async function migrate(url: string, applicationUrl = url): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await client.query("create table if not exists schema_migrations (name text primary key, sha256 text not null)");
    const applied = new Map(
      (await client.query("select name, sha256 from schema_migrations")).rows.map((row) => [row.name, row.sha256]),
    );
    const migrations = await readMigrations();
    const unknown = [...applied.keys()].filter((name) => !migrations.some((migration) => migration.name === name));
    if (unknown.length > 0) throw new Error(`the database was migrated by another version (${unknown.join(", ")})`);
    const pending = migrations.filter(({ name, sha256 }) => applied.get(name) !== sha256);
    for (const { name, sql, sha256 } of pending) {
      if (applied.has(name)) throw new Error(`migration ${name} was changed after it had been applied`);
      await client.query(`begin; ${sql}; insert into schema_migrations values ('${name}', '${sha256}'); commit`);
    }
    if (pending.length > 0) await client.query("select apply_row_level_security()");
    await grantRoles(client, applicationUrl);
    await client.query("select create_partitions((now() at time zone 'UTC')::date - 1, $1)", [DAYS_AHEAD]);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function grantRoles(client: pg.Client, applicationUrl: string): Promise<void> {
  const user = decodeURIComponent(URL.parse(applicationUrl)?.username ?? "");
  if (user === "" || user === client.user) return;
  await client.query(`grant gesso_app, gesso_system to ${pg.escapeIdentifier(user)}`);
}

async function readMigrations() {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), "utf8");
      return { name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

// Brings a database to this version: plain SQL files in order, each once, forward only. Two processes may start at the
// same moment; one migrates, the other waits.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import pg from "pg";

const FOLDER = new URL("../../migrations/", import.meta.url);
const MIGRATION_LOCK = 7_788_001;
const DAYS_AHEAD = 8;

/** `url` is the owner's. Whoever works with the tables, by `workingUrl`, is allowed to take the roles that it works in. */
export async function migrate(url: string, applicationUrl = url): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await client.query("create table if not exists schema_migrations (name text primary key, sha256 text not null)");
    const applied = new Map(
      (await client.query("select name, sha256 from schema_migrations")).rows.map((row) => [row.name, row.sha256]),
    );
    const fresh: string[] = [];
    for (const { name, sql, sha256 } of await readMigrations()) {
      if (applied.get(name) === sha256) continue;
      if (applied.has(name)) throw new Error(`migration ${name} was changed after it had been applied`);
      await client.query(`begin; ${sql}; insert into schema_migrations values ('${name}', '${sha256}'); commit`);
      fresh.push(name);
    }
    const known = new Set((await readMigrations()).map(({ name }) => name));
    const newer = [...applied.keys()].filter((name) => !known.has(name));
    if (newer.length > 0) throw new Error(`the database was migrated by a newer version (${newer.join(", ")})`);
    if (fresh.length > 0) await client.query("select raise_walls()");
    await grantRoles(client, applicationUrl);
    await client.query("select make_partitions((now() at time zone 'UTC')::date - 1, $1)", [DAYS_AHEAD]);
    return fresh;
  } finally {
    await client.end();
  }
}

async function grantRoles(client: pg.Client, applicationUrl: string): Promise<void> {
  const worker = decodeURIComponent(URL.parse(applicationUrl)?.username ?? "");
  if (worker === "" || worker === client.user) return;
  await client.query(`grant gesso_app, gesso_system to ${pg.escapeIdentifier(worker)}`);
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

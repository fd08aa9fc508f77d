// The locks that each statement takes must not grow with the age of the installation: the lock table of PostgreSQL is
// shared by all connections and has a fixed size, and a generic plan locks every partition of every table it names.
import { readdirSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertHistory } from "../../test/support/insert-history.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { type CompiledStatement, registeredStatements } from "./statement.ts";

const AGES_IN_DAYS = [8, 98, 400];
const ROLES = ["gesso_system", "gesso_app"];

let database: TestDatabase;
let statements: CompiledStatement[];

beforeAll(async () => {
  database = await startTestDatabase();
  statements = await loadStatements();
});
afterAll(() => database?.stop());

async function loadStatements(): Promise<CompiledStatement[]> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const modules = files.filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith("generated/"));
  for (const file of modules) await import(/* @vite-ignore */ `./${file}`);
  return [...registeredStatements.values()].flat();
}

/** Locks of tables and indexes that each statement takes, by role and name of the statement. */
async function countLocks(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const role of ROLES) {
    const client = new pg.Client({
      connectionString: database.url,
      options: `-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c role=${role}`,
    });
    await client.connect();
    for (const statement of statements) {
      const count = await countLocksOf(client, statement);
      if (count !== undefined) counts[`${role} ${statement.name}`] = count;
    }
    await client.end();
  }
  return counts;
}

/** Undefined if the role may not run the statement. The second use of the plan counts: the first one also plans. */
async function countLocksOf(client: pg.Client, statement: CompiledStatement): Promise<number | undefined> {
  const values = statement.parameterNames.map(() => "null").join(", ");
  const explain = `explain execute counted${values && `(${values})`}`;
  await client.query(`prepare counted as ${statement.text}`);
  try {
    await client.query(explain);
    await client.query(`begin; ${explain}`);
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
         and relation <> all (select oid from pg_class where relnamespace = 'pg_catalog'::regnamespace)`,
    );
    return rows[0]!.count;
  } catch (thrown) {
    if (!/permission denied/.test(String(thrown))) throw new Error(`${statement.name}: ${thrown}`);
    return undefined;
  } finally {
    await client.query("rollback; deallocate counted");
  }
}

describe("every statement", () => {
  it("takes the same number of locks at 8, 98 and 400 days", async () => {
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const counts: Record<string, number>[] = [];
    for (const days of AGES_IN_DAYS) {
      await insertHistory(owner, { days, runsPerDay: 2 });
      counts.push(await countLocks());
    }
    await owner.end();
    const [young, ...older] = counts;
    expect(Object.keys(young!).length).toBeGreaterThan(250);
    const growing = Object.keys(young!).flatMap((name) => {
      const numbers = [young![name], ...older.map((each) => each[name])];
      return new Set(numbers).size > 1 ? [`${name}: ${numbers.join(", ")}`] : [];
    });
    expect(growing).toEqual([]);
    expect(Math.max(...Object.values(young!))).toBeLessThan(64);
  });
});

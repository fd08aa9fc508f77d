// A rolling upgrade adds columns while processes of the previous version run with prepared statements.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { registeredStatements } from "./statement.ts";

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  for (const file of readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).sort()) {
    if (/(?<!\.test)\.ts$/.test(file) && !file.startsWith("generated/")) await import(join(import.meta.dirname, file));
  }
  database = await startTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.stop();
});

/** Plans a prepared statement as an execution would, without the execution. */
const planAgain = (index: number, parameters: number) =>
  client.query(`explain execute s${index}${parameters > 0 ? `(${Array(parameters).fill("null").join(", ")})` : ""}`);

/** SQLSTATE 0A000 is "cached plan must not change result type". */
const findBrokenStatements = async (
  statements: { name: string; text: string; parameterNames: readonly string[] }[],
) => {
  for (const [index, { text }] of statements.entries()) await client.query(`prepare s${index} as ${text}`);
  const tables = await client.query(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  for (const { name } of tables.rows) await client.query(`alter table ${name} add column added_later text`);
  const broken: string[] = [];
  for (const [index, { name, parameterNames }] of statements.entries()) {
    await planAgain(index, parameterNames.length).catch((thrown) => broken.push(`${name}: ${thrown.code}`));
  }
  for (const { name } of tables.rows) await client.query(`alter table ${name} drop column added_later`);
  await client.query("deallocate all");
  return broken;
};

describe("prepared statements", () => {
  it("go on working in running processes after a migration added a column to every table", async () => {
    const statements = [...registeredStatements.values()].flat();
    expect(statements.length).toBeGreaterThan(150);
    expect(await findBrokenStatements(statements)).toEqual([]);
  });

  it("would fail with `select *`", async () => {
    const text = "select * from tenants";
    expect(await findBrokenStatements([{ name: "star", text, parameterNames: [] }])).toEqual(["star: 0A000"]);
  });
});

// The statements of a run's path find their rows by key, however many runs have ended: a generic plan that reads a
// whole table would make every run slower than the one before.
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertHistory } from "../../../test/support/insert-history.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { registeredStatements } from "../statement.ts";
import "../attempts/claim-attempt.ts";
import "./end-runs.ts";
import "./insert-run.ts";
import "./open-runs.ts";
import "./queue.ts";
import "./start-run.ts";
import "../attempts/tickets.ts";

const PATH_OF_A_RUN =
  /^(runs\.accept|queue\.claim|open_runs\.(start|end|cancel)|attempts\.(claim|save_ticket|receive_callback))$/;

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await startTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await insertHistory(client, { days: 8, runsPerDay: 400 });
  await client.query("set plan_cache_mode = force_generic_plan");
});
afterAll(async () => {
  await client?.end();
  await database?.stop();
});

it("no statement of a run's path reads a whole table of ended runs", async () => {
  const statements = [...registeredStatements.values()].flat().filter(({ name }) => PATH_OF_A_RUN.test(name));
  expect(statements.length).toBeGreaterThanOrEqual(8);
  const scans: string[] = [];
  for (const { name, text, parameterNames } of statements) {
    const values = parameterNames.map(() => "null").join(", ");
    await client.query(`prepare planned as ${text}`);
    const { rows } = await client.query(`explain execute planned${values && `(${values})`}`);
    const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
    const found = plan.matchAll(/Seq Scan on (?:runs|attempts|assets|events|transfers)\b/g);
    for (const [scan] of found) scans.push(`${name}: ${scan}`);
    await client.query("deallocate planned");
  }
  expect(scans).toEqual([]);
});

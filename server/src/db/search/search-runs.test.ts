// The functions that search the index of runs: for an owner of the tables who is no superuser, and in a history whose
// runs are unevenly distributed over time.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPeriods } from "../../../test/support/run-periods.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { connectDatabase } from "../connect.ts";
import { migrate } from "../migrations/migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const [HIGHEST, LOWEST] = ["ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"];
const DAY = 24 * 60 * 60 * 1000;

/** Runs without anything but what a search reads. `terms` gets the number of the run, the oldest is 0. */
async function insertIndexedRuns(tenant: string, times: number[], terms: (n: number) => string[]): Promise<string[]> {
  const runs = times.map((at, n) => ({ run_id: v7({ msecs: at }), at: new Date(at).toISOString(), terms: terms(n) }));
  await database.owner.query(
    "test.runs",
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, root_run_id, depth, inputs, plan,
       result, created_at, started_at, finished_at)
     select run_id, $1, 'u', 'images.generate', 'image-generation', 'completed', 1, run_id, 1, '{}', '[]',
       '{"outputs": []}', at, at, at from jsonb_to_recordset($2::jsonb) as given (run_id uuid, at timestamptz)`,
    [tenant, JSON.stringify(runs)],
  );
  await database.db.query(
    "test.index",
    `select index_runs(jsonb_agg(jsonb_build_object('run_id', run_id, 'tenant_id', $1::uuid, 'is_open', false,
       'month', date_trunc('month', at)::date, 'terms', terms)))
     from jsonb_to_recordset($2::jsonb) as given (run_id uuid, at timestamp, terms jsonb)`,
    [tenant, JSON.stringify(runs)],
  );
  return runs.map(({ run_id }) => run_id);
}

type Found = { run_ids: string[]; next_before: string | null; lookups: number };
async function search(tenant: string, terms: string[], { before = HIGHEST, entries = 20_000 } = {}): Promise<Found> {
  const [found] = await database.db
    .forTenant(tenant)
    .query<Found>(
      "test.search",
      "select run_ids, next_before, lookups from search_runs($1, $2::text[], $3, $4, 20, $5)",
      [tenant, terms, before, LOWEST, entries],
    );
  return found!;
}

describe("a search of runs", () => {
  const tenant = v7();
  let ids: string[];
  beforeAll(async () => {
    // 3,000 runs of one hour a year ago, then one a day, then 3,000 of the last hour.
    const now = Date.now();
    const burst = (end: number) => Array.from({ length: 3000 }, (_, n) => end - (3000 - n) * 1200);
    const days = Array.from({ length: 300 }, (_, n) => now - (320 - n) * DAY);
    const times = [...burst(now - 365 * DAY), ...days, ...burst(now)];
    ids = await insertIndexedRuns(tenant, times, (n) => [
      `word:${n % 2 === 0 ? "even" : "odd"}`,
      `word:number${n}`,
      ...(n < 3000 ? ["word:early"] : []),
    ]);
  });

  it("finds every run of any time with a few look-ups", async () => {
    for (const n of [0, 1, 2999, 3000, 3150, 3299, 3300, 5000, 6299]) {
      const { run_ids, next_before, lookups } = await search(tenant, [`word:number${n}`]);
      expect([n, run_ids, next_before]).toEqual([n, [ids[n]], null]);
      expect(lookups).toBeLessThanOrEqual(7);
    }
  });

  it("finds the newest runs first, and continues below the last one", async () => {
    const early: string[] = [];
    let before: string | null = HIGHEST;
    while (before !== null) {
      const found: Found = await search(tenant, ["word:even", "word:early"], { before });
      early.push(...found.run_ids);
      before = found.next_before;
    }
    expect(early).toEqual(
      ids
        .slice(0, 3000)
        .filter((_, n) => n % 2 === 0)
        .reverse(),
    );
  });

  it("ends early where two common terms are never together, and says where it continues", async () => {
    const seen: (string | null)[] = [];
    let before: string | null = HIGHEST;
    while (before !== null) {
      const found: Found = await search(tenant, ["word:even", "word:odd"], { before, entries: 600 });
      expect(found.run_ids).toEqual([]);
      if (found.next_before !== null) expect(found.next_before < before).toBe(true);
      before = found.next_before;
      seen.push(before);
    }
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.length).toBeLessThan(10);
  });
});

it("an owner of the tables who is no superuser looks up arrays in the index, under row-level security", async () => {
  const name = `dba_${v7().replaceAll("-", "").slice(0, 24)}`;
  const { owner, url } = database;
  await owner.query("test.role", `create role ${name} login createrole password '${name}'`);
  await owner.query("test.grant", `grant gesso_app, gesso_system, gesso_end_user to ${name} with admin option`);
  await owner.query("test.database", `create database ${name} owner ${name}`);
  const ownUrl = Object.assign(new URL(url), { username: name, password: name, pathname: `/${name}` }).href;
  await migrate(ownUrl);
  const [db, dba] = [
    connectDatabase({ DATABASE_URL: ownUrl, DATABASE_POOL: 2 }),
    connectDatabase({ DATABASE_URL: ownUrl, DATABASE_POOL: 2 }, null),
  ];
  try {
    const [tenant, runId] = [v7(), v7()];
    const batch = [{ run_id: runId, tenant_id: tenant, month: "2026-01-01", is_open: false, terms: ["word:boat"] }];
    await db.query("test.index", "select index_runs($1::jsonb)", [JSON.stringify(batch)]);
    const text = `select find_indexed_runs(term_hashes($1, '{word:boat}'), ${runPeriods("$1", "$2")}, $3, $4, 10) as ids`;
    const find = (of: string) => db.forTenant(of).query("test.find", text, [tenant, runId, HIGHEST, LOWEST]);
    expect([await find(tenant), await find(v7())]).toEqual([[{ ids: [runId] }], [{ ids: [] }]]);
    const plan = await dba.query<{ "QUERY PLAN": string }>(
      "test.plan",
      "explain select run_id from run_index where not is_open and terms @> '{1}' and terms && '{2}'",
    );
    const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
    expect(lines).toContain("Bitmap Index Scan on run_index_terms");
    expect(lines).toMatch(/Index Cond: .*@>.*&&/);
  } finally {
    await db.close();
    await dba.close();
    await owner.query("test.drop", `drop database ${name}`);
    await owner.query("test.drop_role", `drop role ${name}`);
  }
});

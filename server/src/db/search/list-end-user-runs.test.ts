// Lists, searches and events of one end user among 4,000 runs of others: the same as a filter in memory, and read by
// the index of end users, whatever the other filters are.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../../test/support/ended-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { indexRuns } from "../../runs/upkeep/index-runs.ts";
import { LOG_START, listTenantEvents } from "../event-log.ts";
import { registeredStatements } from "../statement.ts";
import { listRunRows } from "./list-runs.ts";
import { countRunsOfEndUser } from "./run-index.ts";

const TENANT = v7();
const COUNT = 4000;
const END_USERS = 80;
const FIRST = Date.parse("2026-01-01T00:00:00Z");
const endUserOf = (n: number) => (n % 3 === 0 ? null : `visitor-${n % END_USERS}`);
const runs: TestRun[] = Array.from({ length: COUNT }, (_, n) => ({
  ...{ tenant_id: TENANT, run_id: v7(), created_at: FIRST + n * 60_000, prompt: `boat number${n}` },
  ...{ model: n % 2 === 0 ? "flux-dev" : "sdxl", provider: "bfl", user_id: "u", key_id: v7() },
  ...{ run_type: "image-generation", status: n % 5 === 0 ? "failed" : "completed" },
  error_code: n % 5 === 0 ? "provider_error" : null,
})) as never;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await insertEndedRuns(database.owner, runs);
  await database.owner.query(
    "test.end_users",
    `update runs set end_user = given.end_user
     from unnest($1::timestamptz[], $2::text[]) as given (created_at, end_user) where runs.created_at = given.created_at`,
    [runs.map((_, n) => new Date(FIRST + n * 60_000)), runs.map((_, n) => endUserOf(n))],
  );
  await database.owner.query(
    "test.events",
    `insert into events (run_id, event_id, tenant_id, type, terminal)
     select run_id, gen_random_uuid(), tenant_id, 'run.' || status, true from runs`,
  );
  while (await indexRuns({ database: database.db }));
  await database.owner.query("test.vacuum", "vacuum analyze runs", []);
});
afterAll(() => database?.stop());

const promptsOf = (endUser: string, isOne: (n: number) => boolean = () => true) =>
  runs.flatMap((_, n) => (endUserOf(n) === endUser && isOne(n) ? [`boat number${n}`] : [])).reverse();

it.each([
  ["visitor-1", {}, () => true],
  ["visitor-2", { status: "failed" }, (n: number) => n % 5 === 0],
  ["visitor-7", { model: "sdxl" }, (n: number) => n % 2 === 1],
  ["visitor-8", { q: "boat" }, () => true],
  ["visitor-4", { q: "number4", roots: true }, (n: number) => n === 4],
  ["visitor-1", { status: "queued" }, () => false],
] as const)(
  "the runs of %s with %j are the same for a key that filters and for the end user's token",
  async (endUser, filter, isOne) => {
    const expected = promptsOf(endUser, isOne);
    for (const [db, own] of [
      [database.db.forTenant(TENANT), { ...filter, end_user: endUser }],
      [database.db.forTenant(TENANT, endUser), filter],
      [database.db.forTenant(TENANT, endUser), { ...filter, end_user: endUser }],
    ] as const) {
      const found: unknown[] = [];
      for (let before: string | undefined; ; ) {
        const { rows, nextBefore } = await listRunRows(db, TENANT, { ...own, before }, 10);
        found.push(...rows.map(({ inputs }) => inputs.prompt));
        if (nextBefore === null) break;
        before = nextBefore;
      }
      expect(found).toEqual(expected);
    }
    const foreign = await listRunRows(
      database.db.forTenant(TENANT, endUser),
      TENANT,
      { ...filter, end_user: "another" },
      10,
    );
    expect(foreign).toEqual({ rows: [], nextBefore: null });
  },
);

it("runs are counted and events are listed for one end user alone", async () => {
  const endUser = "visitor-5";
  const db = database.db.forTenant(TENANT, endUser);
  const count = promptsOf(endUser).length;
  expect(await countRunsOfEndUser(db, { tenant_id: TENANT, end_user: endUser }, {})).toEqual([
    { month: "2026-01", count },
  ]);
  const events = await listTenantEvents(db, TENANT, { ...LOG_START, limit: 1000 });
  expect(events).toHaveLength(count);
  const next = await listTenantEvents(db, TENANT, { ...events[9]!, limit: 1000 });
  expect(next).toEqual(events.slice(10));
});

it.each([
  ["runs.list.end_user", "visitor-3"],
  ["runs.list.end_user", undefined],
  ["events.list_of_end_user", "visitor-3"],
  ["run_index.count_of_end_user", "visitor-3"],
])("%s reads the index of end users, for the end user %s", async (name, endUser) => {
  const found = [...registeredStatements.values()].flat().find((each) => each.name === name)!;
  const values: Record<string, unknown> = {
    ...{ tenant_id: TENANT, end_user: "visitor-3", before: "ffffffff-ffff-ffff-ffff-ffffffffffff", window: 1000 },
    ...{ lowest: "00000000-0000-0000-0000-000000000000", limit: 20, xact: 0, seq: 0 },
  };
  const lines = await database.db.forTenant(TENANT, endUser).query<{ "QUERY PLAN": string }>(
    `test.plan_${name}`,
    `explain (analyze, buffers, costs off) ${found.text}`,
    found.parameterNames.map((parameter) => values[parameter] ?? null),
  );
  const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/runs_by_end_user/);
  expect(plan).toMatch(/Index Cond: \(\(tenant_id = .*end_user = /);
  expect(plan).not.toMatch(/Seq Scan on (runs|events)/);
});

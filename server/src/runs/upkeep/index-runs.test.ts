// The index of runs: what the event log adds to it, the backfill, counts by month, and deletions at the same time.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../../test/support/ended-runs.ts";
import { runPeriods } from "../../../test/support/run-periods.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import { insertRun } from "../../db/runs/insert-run.ts";
import { claimQueuedRuns } from "../../db/runs/queue.ts";
import { tombstoneRun } from "../../db/runs/runs.ts";
import { startClaimedRun } from "../../db/runs/start-run.ts";
import { listRunRows } from "../../db/search/list-runs.ts";
import { countRunsByMonth, findRunsToIndex, insertRunTerms } from "../../db/search/run-index.ts";
import { termsOfRun } from "../../db/search/search-terms.ts";
import { indexRuns } from "./index-runs.ts";

let database: TestDatabase;
beforeAll(async () => {
  // The reader of events waits for open transactions of all databases of a server.
  database = await startTestDatabase({ hasOwnServer: true });
});
afterAll(() => database?.stop());

const indexAll = async () => {
  while (await indexRuns({ database: database.db }));
};
const search = async (tenant: string, q: string) =>
  (await listRunRows(database.db.forTenant(tenant), tenant, { q }, 10)).rows.map(({ run_id }) => run_id);
/** Whether the run has these terms in the index, and no others beside the periods of its id. */
const hasTerms = async (tenant: string, runId: string, terms: string[]) => {
  const [row] = await database.owner.query<{ holds: boolean }>(
    "test.terms",
    `select array(select unnest(terms) order by 1)
       = array(select unnest(term_hashes($1, $3::text[]) || ${runPeriods("$1", "$2")}) order by 1) as holds
     from run_index where run_id = $2 and tenant_id = $1`,
    [tenant, runId, terms],
  );
  return row?.holds;
};
const countTerms = async (tenant: string) => {
  const [row] = await database.owner.query<{ terms: number }>(
    "test.count_terms",
    "select coalesce(sum(cardinality(terms)), 0)::int as terms from run_index where tenant_id = $1",
    [tenant],
  );
  return row!.terms;
};

async function acceptRun(tenant: string, prompt: string): Promise<string> {
  const run_id = v7();
  await insertRun(database.db, {
    ...{ run_id, root_run_id: run_id, tenant_id: tenant, user_id: "u", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600, provider: "planned" },
    ...{ inputs: { prompt }, plan: [], metadata: {}, warnings: [] },
  });
  return run_id;
}

async function failRun(tenant: string): Promise<void> {
  const [claim] = await claimQueuedRuns(database.db, [{ tenant_id: tenant, lane: "fake", count: 1 }]);
  await startClaimedRun(database.db, claim!, v7());
  const error = { code: "run_timeout" as const, message: "timeout", details: {} };
  await endRun(database.db, claim!, { status: "failed", error }, v7());
}

const pastRun = (tenant: string, month: string, prompt = "an old barn"): TestRun => ({
  ...{ tenant_id: tenant, created_at: Date.parse(`${month}-15T00:00:00Z`), prompt, model: "m", provider: "p" },
  ...{ user_id: "u", key_id: v7(), run_type: "image-generation", error_code: null },
  status: "completed",
});

describe("the index of runs", () => {
  it("has runs that were accepted before it existed, after the backfill", async () => {
    const tenant = v7();
    const runs = Array.from({ length: 450 }, (_, n) => pastRun(tenant, n < 150 ? "2026-01" : "2026-02"));
    await insertEndedRuns(database.owner, runs);
    expect(await search(tenant, "barn")).toEqual([]);
    await indexAll();
    expect(await search(tenant, "barn")).toHaveLength(10);
    expect(await countRunsByMonth(database.db, tenant, "")).toEqual([
      { month: "2026-02", count: 300 },
      { month: "2026-01", count: 150 },
    ]);
  });

  it("has a run after its first event, and its status, provider and error after its last", async () => {
    const tenant = v7();
    const runId = await acceptRun(tenant, "a paper boat");
    await indexAll();
    expect(await search(tenant, "Boat")).toEqual([runId]);
    const open = ["root", "type:image-generation", "user:u", "word:a", "word:boat", "word:paper"];
    expect(await hasTerms(tenant, runId, open)).toBe(true);
    await failRun(tenant);
    await indexAll();
    const ended = [...open, "error:run_timeout", "provider:planned", "status:failed"];
    expect(await hasTerms(tenant, runId, ended)).toBe(true);
    expect(await search(tenant, "Boat")).toEqual([runId]);
    const month = new Date().toISOString().slice(0, 7);
    for (const term of ["", "root", "status:failed", "error:run_timeout"])
      expect([term, await countRunsByMonth(database.db, tenant, term)]).toEqual([term, [{ month, count: 1 }]]);
    expect(await countRunsByMonth(database.db, tenant, "word:boat")).toEqual([]);
  });

  it("stays the same when the log is read again", async () => {
    const tenant = v7();
    const runId = await acceptRun(tenant, "a kite");
    await indexAll();
    const terms = ["root", "type:image-generation", "user:u", "word:a", "word:kite"];
    expect(await hasTerms(tenant, runId, terms)).toBe(true);
    await database.owner.query("test.rewind", "update run_index_position set xact = 0, seq = 0");
    await indexAll();
    expect(await hasTerms(tenant, runId, terms)).toBe(true);
    expect(await countRunsByMonth(database.db, tenant, "")).toMatchObject([{ count: 1 }]);
  });
});

describe("counts by month", () => {
  it("count a run once when two duties index it at the same time, before and after its end", async () => {
    const tenant = v7();
    const runs = Array.from({ length: 40 }, () => pastRun(tenant, "2026-06"));
    await insertEndedRuns(database.owner, runs);
    const accepted = runs.map((run) => ({
      ...{ run_id: run.run_id!, tenant_id: tenant, month: "2026-06-01", is_open: true },
      terms: ["model:m", "word:barn"],
    }));
    await Promise.all([
      ...runs.map((run) => indexRunsNow([run])),
      ...accepted.map((batch) => insertRunTerms(database.db, [batch])),
      indexRunsNow(runs),
    ]);
    for (const term of ["", "model:m", "status:completed"])
      expect([term, await countRunsByMonth(database.db, tenant, term)]).toEqual([
        term,
        [{ month: "2026-06", count: 40 }],
      ]);
    expect(await search(tenant, "barn")).toHaveLength(10);
  });
});

describe("a deleted run", () => {
  it("leaves the counts of its month", async () => {
    const tenant = v7();
    const runs = [pastRun(tenant, "2026-03"), pastRun(tenant, "2026-03"), pastRun(tenant, "2026-04")];
    await insertEndedRuns(database.owner, runs);
    await indexRunsNow(runs);
    await tombstoneRun(database.db.forTenant(tenant), tenant, runs[0]!.run_id!, v7());
    await tombstoneRun(database.db.forTenant(tenant), tenant, runs[2]!.run_id!, v7());
    for (const term of ["", "status:completed", "model:m"])
      expect(await countRunsByMonth(database.db, tenant, term)).toEqual([{ month: "2026-03", count: 1 }]);
  });

  it("is not indexed by a duty that has read it before", async () => {
    const tenant = v7();
    const run = pastRun(tenant, "2026-03", "a secret");
    await insertEndedRuns(database.owner, [run]);
    await tombstoneRun(database.db.forTenant(tenant), tenant, run.run_id!, v7());
    for (const is_open of [false, true]) {
      const batch = { run_id: run.run_id!, tenant_id: tenant, month: "2026-03-01", terms: ["word:secret"], is_open };
      expect(await insertRunTerms(database.db, [batch])).toBe(0);
    }
    expect(await countTerms(tenant)).toBe(0);
    expect(await countRunsByMonth(database.db, tenant, "")).toEqual([]);
  });

  it("is removed from the index with its row", async () => {
    const tenant = v7();
    const run = pastRun(tenant, "2026-03", "a secret");
    await insertEndedRuns(database.owner, [run]);
    await indexRunsNow([run]);
    const count = async () =>
      (await database.owner.query("test.rows", "select from run_index where run_id = $1", [run.run_id])).length;
    await tombstoneRun(database.db.forTenant(tenant), tenant, run.run_id!, v7());
    expect(await count()).toBe(1);
    await database.owner.query("test.delete", "delete from runs where run_id = $1", [run.run_id]);
    expect(await count()).toBe(0);
  });

  it("leaves no term when it is deleted while it is indexed", async () => {
    const tenant = v7();
    const runs = Array.from({ length: 60 }, () => pastRun(tenant, "2026-05", "a secret place of many words"));
    await insertEndedRuns(database.owner, runs);
    await Promise.all([
      ...runs.map((run) => indexRunsNow([run])),
      ...runs.map(({ run_id }) => tombstoneRun(database.db.forTenant(tenant), tenant, run_id!, v7())),
    ]);
    expect(await countTerms(tenant)).toBe(0);
    expect(await countRunsByMonth(database.db, tenant, "")).toEqual([]);
  });
});

/** What the duty does with these runs, without its cursor. */
async function indexRunsNow(runs: TestRun[]): Promise<void> {
  const found = await findRunsToIndex(
    database.db,
    runs.map(({ run_id }) => run_id!),
  );
  await insertRunTerms(
    database.db,
    found.map((run) => ({
      ...{ run_id: run.run_id, tenant_id: run.tenant_id, is_open: false, terms: termsOfRun(run) },
      month: `${run.created_at.toISOString().slice(0, 7)}-01`,
    })),
  );
}

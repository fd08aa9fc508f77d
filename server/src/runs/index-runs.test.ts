// The index of runs: what the event log adds to it, the backfill, counts by month, and deletions at the same time.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../test/support/ended-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { insertRun } from "../db/runs/insert-run.ts";
import { listRunRows } from "../db/runs/list-runs.ts";
import { endRun } from "../db/runs/open-runs.ts";
import { claimQueuedRuns } from "../db/runs/queue.ts";
import { countRunsByMonth, findRunsToIndex, insertRunTerms } from "../db/runs/run-index.ts";
import { tombstoneRun } from "../db/runs/runs.ts";
import { termsOfRun } from "../db/runs/search-terms.ts";
import { startClaimedRun } from "../db/runs/start-run.ts";
import { indexRuns } from "./index-runs.ts";

let database: TestDatabase;
beforeAll(async () => {
  // The reader of events waits for open transactions of all databases of a server.
  database = await startTestDatabase({ hasOwnServer: true });
}, 60_000);
afterAll(() => database?.stop());

const indexAll = async () => {
  while (await indexRuns({ database: database.db }));
};
const search = async (tenant: string, q: string) =>
  (await listRunRows(database.db.forTenant(tenant), tenant, { q }, 10)).rows.map(({ run_id }) => run_id);
const termsInTable = async (runId: string) =>
  (
    await database.owner.query<{ term: string }>(
      "test.terms",
      "select term from run_terms where run_id = $1 order by term",
      [runId],
    )
  ).map(({ term }) => term);

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
    expect(await termsInTable(runId)).toEqual(open);
    await failRun(tenant);
    await indexAll();
    expect(await termsInTable(runId)).toEqual(
      [...open, "error:run_timeout", "provider:planned", "status:failed"].sort(),
    );
    const month = new Date().toISOString().slice(0, 7);
    for (const term of ["", "root", "status:failed", "error:run_timeout"])
      expect([term, await countRunsByMonth(database.db, tenant, term)]).toEqual([term, [{ month, count: 1 }]]);
    expect(await countRunsByMonth(database.db, tenant, "word:boat")).toEqual([]);
  });

  it("stays the same when the log is read again", async () => {
    const tenant = v7();
    const runId = await acceptRun(tenant, "a kite");
    await indexAll();
    const terms = await termsInTable(runId);
    await database.owner.query("test.rewind", "update run_index_cursor set xact = 0, seq = 0");
    await indexAll();
    expect(await termsInTable(runId)).toEqual(terms);
    expect(await countRunsByMonth(database.db, tenant, "")).toMatchObject([{ count: 1 }]);
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
    const batch = { run_id: run.run_id!, tenant_id: tenant, month: "2026-03-01", terms: ["word:secret"] };
    expect(await insertRunTerms(database.db, [batch])).toBe(0);
    expect(await termsInTable(run.run_id!)).toEqual([]);
    expect(await countRunsByMonth(database.db, tenant, "")).toEqual([]);
  });

  it("leaves no term when it is deleted while it is indexed", async () => {
    const tenant = v7();
    const runs = Array.from({ length: 60 }, () => pastRun(tenant, "2026-05", "a secret place of many words"));
    await insertEndedRuns(database.owner, runs);
    await Promise.all([
      ...runs.map((run) => indexRunsNow([run])),
      ...runs.map(({ run_id }) => tombstoneRun(database.db.forTenant(tenant), tenant, run_id!, v7())),
    ]);
    const left = await database.owner.query("test.left", "select term from run_terms where tenant_id = $1", [tenant]);
    expect(left).toEqual([]);
    expect(await countRunsByMonth(database.db, tenant, "")).toEqual([]);
  }, 30_000);
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
      ...{ run_id: run.run_id, tenant_id: run.tenant_id, terms: termsOfRun(run) },
      month: `${run.created_at.toISOString().slice(0, 7)}-01`,
    })),
  );
}

// Pages of runs as the API returns them: short pages with a cursor, cursors of other filters, and counts by month.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../../test/support/ended-runs.ts";
import { createFakeAssets } from "../../../test/support/fake-assets.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createCursorSigner } from "../../access/cursors.ts";
import type { RequestContext } from "../../access/request-context.ts";
import type { RunFilter } from "../../contract/run-filters.ts";
import { RunHistogram } from "../../contract/schemas/library.ts";
import { type JsonObject, RunPage } from "../../contract/schemas/run.ts";
import { indexRuns } from "../../runs/upkeep/index-runs.ts";
import { getRunHistogram } from "./histogram.ts";
import { listRunPage } from "./list.ts";

const tenant = v7();
/** Has a run with more children than one request reads. The oldest child is the only one of its model. */
const parental = v7();
const FIRST = Date.parse("2026-01-31T23:00:00Z");
/** Alternating words, so that no prompt has both. */
const RUNS: TestRun[] = Array.from({ length: 3200 }, (_, n) => ({
  ...{ tenant_id: tenant, created_at: FIRST + n * 1000, prompt: n % 2 === 0 ? "red" : "blue", model: "m" },
  ...{ provider: "p", user_id: "u", key_id: v7(), run_type: "image-generation" },
  status: n === 0 ? "failed" : "completed",
  error_code: n === 0 ? "run_timeout" : null,
}));

const PARENT: TestRun = { ...RUNS[1]!, tenant_id: parental };
const CHILDREN: TestRun[] = Array.from({ length: 4100 }, (_, n) => ({
  ...{ ...PARENT, created_at: PARENT.created_at + (n + 1) * 1000, parent: PARENT, model: n === 0 ? "rare" : "m" },
}));

let database: TestDatabase;
let contextOf: (tenantId: string) => RequestContext;
beforeAll(async () => {
  database = await startTestDatabase();
  // The oldest run is the only one with both words.
  RUNS[0]!.prompt = "red and blue";
  await insertEndedRuns(database.owner, RUNS);
  while (await indexRuns({ database: database.db }));
  await insertEndedRuns(database.owner, [PARENT, ...CHILDREN]);
  const cursors = createCursorSigner([new Uint8Array(32)], { now: () => 0 });
  contextOf = (tenantId) =>
    ({ database: database.db.forTenant(tenantId), caller: { tenant_id: tenantId }, cursors }) as never;
});
afterAll(() => database?.stop());

const list = async (filter: Omit<RunFilter, "limit">, tenantId = tenant) => {
  const assets = createFakeAssets("https://x/");
  return RunPage.parse(await listRunPage({ assets }, contextOf(tenantId), { ...filter, limit: 20 }));
};

it("a page without a match has a cursor while there may be more, and the last page has none", async () => {
  const filter = { parent_run_id: PARENT.run_id!, model: "rare" };
  const pages = [await list(filter, parental)];
  while (pages.at(-1)!.next_cursor) pages.push(await list({ ...filter, cursor: pages.at(-1)!.next_cursor! }, parental));
  expect(pages[0]!.data).toEqual([]);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.flatMap(({ data }) => data).map(({ run_id }) => run_id)).toEqual([CHILDREN[0]!.run_id]);
  expect(pages.at(-1)!.next_cursor).toBeNull();
});

it("two words that only the oldest run has find it at once", async () => {
  const { data, next_cursor } = await list({ q: "red blue" });
  expect([data.map(({ run_id }) => run_id), next_cursor]).toEqual([[RUNS[0]!.run_id], null]);
});

it("a cursor is refused with other filters", async () => {
  const { next_cursor } = await list({ q: "red" });
  await expect(list({ q: "blue", cursor: next_cursor! })).rejects.toMatchObject({ code: "invalid_cursor" });
  expect((await list({ q: "red", cursor: next_cursor! })).data).toHaveLength(20);
});

it("runs are counted by month, all and those of one field", async () => {
  const count = async (filter: JsonObject) =>
    RunHistogram.parse(await getRunHistogram.handle(filter, contextOf(tenant), {})).data;
  expect(await count({})).toEqual([{ month: "2026-01", count: 3200 }]);
  expect(await count({ error_code: "run_timeout" })).toEqual([{ month: "2026-01", count: 1 }]);
  expect(await count({ status: "completed" })).toEqual([{ month: "2026-01", count: 3199 }]);
  expect(await count({ model: "none" })).toEqual([]);
});

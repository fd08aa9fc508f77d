// Lists of 4,000 runs with every filter, compared with the same filter in memory, page by page.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../../test/support/ended-runs.ts";
import { runPeriods } from "../../../test/support/run-periods.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { indexRuns } from "../../runs/upkeep/index-runs.ts";
import { insertRun } from "../runs/insert-run.ts";
import { tombstoneRun } from "../runs/runs.ts";
import { listRunRows } from "./list-runs.ts";
import { saveRunMarks } from "./run-marks.ts";

const [TENANT, OTHER_TENANT] = [v7(), v7()];
const KEYS = [v7(), v7()];
const COUNT = 4000;
const FIRST = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;

/** A run a minute. Every fourth run is a child of the run before it. */
function buildRuns(): TestRun[] {
  const runs: TestRun[] = [];
  for (let n = 0; n < COUNT; n++) {
    runs.push({
      tenant_id: TENANT,
      created_at: FIRST + n * MINUTE,
      prompt: `${n % 2 === 0 ? "Harbour" : "lighthouse"} at dawn, number${n}${n === 11 ? " zeppelin" : ""}`,
      model: n === 13 ? "rare-model" : n % 10 === 0 ? "flux-dev" : "sdxl",
      provider: n % 5 === 0 ? "fal" : "bfl",
      user_id: n % 3 === 0 ? "ann" : "bob",
      key_id: KEYS[n % 7 === 0 ? 0 : 1]!,
      run_type: n === 17 ? "image-upscale" : "image-generation",
      status: n % 50 === 0 ? "failed" : n % 99 === 1 ? "canceled" : "completed",
      error_code: n % 50 === 0 ? (n % 100 === 0 ? "run_timeout" : "provider_error") : null,
      parent: n % 4 === 3 ? runs[n - 1] : undefined,
    });
  }
  return runs;
}

let database: TestDatabase;
let runs: TestRun[];
beforeAll(async () => {
  database = await startTestDatabase();
  runs = buildRuns();
  const foreign = { ...runs[0]!, tenant_id: OTHER_TENANT, run_id: undefined, prompt: "zeppelin", model: "rare-model" };
  await insertEndedRuns(database.owner, [...runs, foreign]);
  while (await indexRuns({ database: database.db }));
});
afterAll(() => database?.stop());

type Filter = Parameters<typeof listRunRows>[2];
const db = () => database.db.forTenant(TENANT);

/** The ids of all pages, as the API reads them. */
async function collect(filter: Filter, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  let before: string | null | undefined;
  do {
    const { rows, nextBefore } = await listRunRows(db(), TENANT, { ...filter, before: before ?? undefined }, limit + 1);
    const page = rows.slice(0, limit);
    ids.push(...page.map(({ run_id }) => run_id));
    before = rows.length > limit ? page.at(-1)!.run_id : nextBefore;
  } while (before !== null);
  return ids;
}
const idsOf = (matches: (run: TestRun, n: number) => boolean) =>
  runs
    .filter(matches)
    .map(({ run_id }) => run_id!)
    .reverse();
const iso = (n: number) => new Date(FIRST + n * MINUTE).toISOString();
const hasWord = (word: string) => (run: TestRun) => run.prompt.toLowerCase().includes(word);

describe("a list of runs", () => {
  it.each<[string, Filter, (run: TestRun, n: number) => boolean]>([
    ["everything", {}, () => true],
    ["a common word", { q: "HARBOUR" }, hasWord("harbour")],
    ["a rare word", { q: "zeppelin" }, hasWord("zeppelin")],
    ["two words", { q: "dawn Lighthouse" }, hasWord("lighthouse")],
    ["a word of one run and a common one", { q: "number2345 lighthouse" }, (_, n) => n === 2345],
    ["two words that no prompt has together", { q: "harbour lighthouse" }, () => false],
    ["an unknown word", { q: "submarine" }, () => false],
    ["part of a word", { q: "harb" }, () => false],
    ["no word", { q: "!?" }, () => false],
    ["a model", { model: "flux-dev" }, ({ model }) => model === "flux-dev"],
    ["a rare model", { model: "rare-model" }, (_, n) => n === 13],
    ["an unknown model", { model: "none" }, () => false],
    ["a provider", { provider: "fal" }, ({ provider }) => provider === "fal"],
    ["a key", { key_id: KEYS[0] }, (_, n) => n % 7 === 0],
    ["a user", { user_id: "ann" }, ({ user_id }) => user_id === "ann"],
    ["an error code", { error_code: "run_timeout" }, (_, n) => n % 100 === 0],
    ["a run type", { run_type: "image-upscale" }, (_, n) => n === 17],
    ["roots", { roots: true }, ({ parent }) => !parent],
    ["completed", { status: "completed" }, ({ status }) => status === "completed"],
    ["failed", { status: "failed" }, ({ status }) => status === "failed"],
    [
      "canceled runs of a user",
      { status: "canceled", user_id: "bob" },
      (run) => run.status === "canceled" && run.user_id === "bob",
    ],
    ["open runs", { status: "queued" }, () => false],
    ["times", { created_after: iso(99), created_before: iso(205) }, (_, n) => n > 99 && n < 205],
    [
      "everything together",
      { q: "harbour", model: "flux-dev", provider: "fal", user_id: "ann", roots: true, created_before: iso(3000) },
      (run, n) => n % 30 === 0 && n < 3000 && !run.parent,
    ],
  ])("filtered by %s has the right runs on all pages", async (_, filter, matches) => {
    const expected = idsOf(matches);
    expect(await collect(filter)).toEqual(expected);
    if (expected.length < 200) expect(await collect(filter, 3)).toEqual(expected);
  });

  it("reads a bounded number of entries: a search can find nothing although there is more to search", async () => {
    const search = (maxEntries: number, before: string) =>
      db().query<{ run_ids: string[]; next_before: string | null }>(
        "test.search",
        `select run_ids, next_before from search_runs($1, '{word:harbour,word:lighthouse}', $2,
           '00000000-0000-0000-0000-000000000000', 20, $3)`,
        [TENANT, before, maxEntries],
      );
    const newest = runs.at(-1)!.run_id!;
    expect(await search(100, newest)).toEqual([{ run_ids: [], next_before: runs[COUNT - 1001]!.run_id }]);
    expect(await search(20_000, newest)).toEqual([{ run_ids: [], next_before: null }]);
  });

  it("has the children of a run, with any filter", async () => {
    const [parent, child] = [runs[102]!.run_id!, runs[103]!.run_id!];
    expect(await collect({ parent_run_id: parent })).toEqual([child]);
    expect(await collect({ parent_run_id: parent, q: "lighthouse" })).toEqual([child]);
    expect(await collect({ parent_run_id: parent, roots: true })).toEqual([]);
  });

  it("has a new run at once, except by its words, which are indexed within seconds", async () => {
    const run_id = v7();
    await insertRun(database.db, {
      ...{ run_id, root_run_id: run_id, tenant_id: TENANT, user_id: "new", event_id: v7(), depth: 1, lane: "fake" },
      ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600, model: "new-model" },
      ...{ inputs: { prompt: "a submersible" }, plan: [], metadata: {}, warnings: [] },
    });
    expect(await collect({ model: "new-model", user_id: "new" })).toEqual([run_id]);
    expect(await collect({ status: "queued" })).toEqual([run_id]);
    expect(await collect({ q: "submersible" })).toEqual([]);
  });

  it("has stars and tags at once, with any filter", async () => {
    const [first, second] = [runs[60]!.run_id!, runs[2100]!.run_id!];
    for (const run_id of [first, second])
      await saveRunMarks(db(), { run_id, tenant_id: TENANT }, { starred: true, tags: ["campaign", run_id] });
    expect(await collect({ starred: true })).toEqual([second, first]);
    expect(await collect({ tag: "campaign", model: "flux-dev", q: "harbour" })).toEqual([second, first]);
    expect(await collect({ tag: first })).toEqual([first]);
    expect(await collect({ tag: "Campaign" })).toEqual([]);
    await saveRunMarks(db(), { run_id: first, tenant_id: TENANT }, { starred: false });
    expect(await collect({ starred: true })).toEqual([second]);
    expect(await collect({ tag: "campaign" })).toEqual([second, first]);
  });

  it("has no deleted run, and the index keeps no word of it", async () => {
    const run_id = runs[11]!.run_id!;
    await saveRunMarks(db(), { run_id, tenant_id: TENANT }, { starred: true, tags: ["gone"] });
    expect(await tombstoneRun(db(), TENANT, run_id, v7())).toBe(true);
    expect(await collect({ q: "zeppelin" })).toEqual([]);
    expect(await collect({ tag: "gone" })).toEqual([]);
    const terms = await database.owner.query(
      "test.terms",
      "select run_id from run_index where run_id = $1 and terms <> '{}' union all select run_id from marked_runs where run_id = $1",
      [run_id],
    );
    const marks = await database.owner.query("test.marks", "select tags from run_marks where run_id = $1", [run_id]);
    expect([terms, marks]).toEqual([[], []]);
    expect(await saveRunMarks(db(), { run_id, tenant_id: TENANT }, { starred: true })).toBeUndefined();
  });

  it("has no run of another tenant, for row-level security alone too", async () => {
    const foreign = database.db.forTenant(OTHER_TENANT);
    for (const filter of [{ q: "harbour" }, { model: "flux-dev" }, { starred: true }, { user_id: "ann" }, {}]) {
      const { rows } = await listRunRows(foreign, TENANT, filter, 100);
      expect([filter, rows]).toEqual([filter, []]);
    }
    expect((await listRunRows(foreign, OTHER_TENANT, { q: "zeppelin" }, 100)).rows).toHaveLength(1);
    const text = `select find_indexed_runs(term_hashes($1, '{word:harbour}'), ${runPeriods("$1", "$2")}, $3, $4, 10) as ids`;
    const [highest, lowest] = ["ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"];
    const values = [TENANT, runs[0]!.run_id, highest, lowest];
    expect(await foreign.query("test.foreign", text, values)).toEqual([{ ids: [] }]);
    expect(await database.db.query("test.without_tenant", text, values)).toEqual([{ ids: [] }]);
    const [own] = await db().query<{ ids: string[] }>("test.own", text, values);
    expect(own!.ids).toHaveLength(10);
  });
});

// Stars and tags as the API shows them, and many changes at the same time.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { insertEndedRuns, type TestRun } from "../../test/support/ended-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Run } from "../contract/schemas/run.ts";
import { addMarks, changeMarks, type RunChange } from "./run-marks.ts";

let database: TestDatabase;
const tenant = v7();
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

async function insertOne(): Promise<string> {
  const run: TestRun = {
    ...{ tenant_id: tenant, created_at: Date.now(), prompt: "x", model: "m", provider: "p", user_id: "u" },
    ...{ key_id: v7(), run_type: "image-generation", error_code: null },
    status: "completed",
  };
  await insertEndedRuns(database.owner, [run]);
  return run.run_id!;
}
const change = (runId: string, changes: RunChange, of = tenant) =>
  changeMarks({ database: database.db.forTenant(of), caller: { tenant_id: of } } as never, runId, changes);
const show = async (runId: string, of = tenant) => {
  const [run] = await addMarks(database.db.forTenant(of), of, [{ run_id: runId } as Run]);
  return { starred: run!.starred, tags: run!.tags };
};
const termsOf = (runId: string) =>
  database.owner.query("test.terms", "select term from marked_runs where run_id = $1 order by term", [runId]);

it("a run has no star and no tags, and then those that were set last", async () => {
  const runId = await insertOne();
  expect(await show(runId)).toEqual({ starred: false, tags: [] });
  await change(runId, { starred: true });
  expect(await change(runId, { tags: ["b", "a", "b"] })).toEqual({ starred: true, tags: ["b", "a"] });
  expect(await show(runId)).toEqual({ starred: true, tags: ["b", "a"] });
  await change(runId, { starred: false, tags: [] });
  expect(await show(runId)).toEqual({ starred: false, tags: [] });
  expect(await termsOf(runId)).toEqual([]);
});

it("another tenant neither changes nor sees them", async () => {
  const [runId, other] = [await insertOne(), v7()];
  await change(runId, { starred: true });
  await expect(change(runId, { starred: false }, other)).rejects.toThrow();
  expect(await show(runId, other)).toEqual({ starred: false, tags: [] });
  expect(await show(runId)).toEqual({ starred: true, tags: [] });
});

it("changes at the same time leave only the terms of the last one", async () => {
  const runId = await insertOne();
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => change(runId, { starred: n % 2 === 0, tags: [`tag${n}`, "all"] })),
  );
  const { starred, tags } = await show(runId);
  const expected = [...(starred ? ["starred"] : []), ...tags!.map((tag) => `tag:${tag}`)].sort();
  expect(await termsOf(runId)).toEqual(expected.map((term) => ({ term })));
});

// Constraints of the database: runs form trees, whatever statement writes them.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { promptOf } from "../../contract/model-run.ts";
import { findRunTree } from "./run-tree.ts";
import { PROMPT } from "./runs.ts";

const TENANT = v7();
let base: TestDatabase;

beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

type TreePosition = { run_id?: string; tenant_id?: string; parent?: string; root?: string; depth?: number };

async function insert({ run_id = v7(), tenant_id = TENANT, parent, root = run_id, depth = 1 }: TreePosition) {
  await base.db.query(
    "test.insert",
    `insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, parent_run_id, root_run_id, depth)
     values ($1, $2, 'u', 'images.generate', 'image-generation', '{}', '[]', $3, $4, $5)`,
    [run_id, tenant_id, parent, root, depth],
  );
  return run_id;
}

describe("a run's place in the tree", () => {
  it("is one level below a parent that is there, in the parent's tree", async () => {
    const root = await insert({});
    const child = await insert({ parent: root, root, depth: 2 });
    expect((await findRunTree(base.db, TENANT, root)).map((row) => row.run_id)).toEqual([root, child]);
  });

  it("is refused where the parent is missing, elsewhere, or at another level", async () => {
    const root = await insert({});
    const other = await insert({});
    const missing = v7();
    await expect(insert({ parent: missing, root: missing, depth: 2 })).rejects.toThrow("one level above");
    await expect(insert({ parent: root, root: other, depth: 2 })).rejects.toThrow("one level above");
    await expect(insert({ parent: root, root, depth: 3 })).rejects.toThrow("one level above");
    await expect(insert({ parent: root, root, depth: 2, tenant_id: v7() })).rejects.toThrow("one level above");
  });

  it("is refused where a root claims another root, or a level below the first", async () => {
    const root = await insert({});
    await expect(insert({ root })).rejects.toThrow("check constraint");
    await expect(insert({ depth: 2 })).rejects.toThrow("check constraint");
  });

  it("cannot be made a circle by two runs that name each other", async () => {
    const [first, second] = [v7(), v7()];
    await expect(insert({ run_id: first, parent: second, root: first, depth: 2 })).rejects.toThrow();
    await insert({ run_id: first });
    await insert({ run_id: second, parent: first, root: first, depth: 2 });
    const update = base.db.query("test.circle", "update runs set parent_run_id = $1, depth = 3 where run_id = $2", [
      ...[second, first],
    ]);
    await expect(update).rejects.toThrow("never changes");
  });

  it("never changes, while everything else about the run may", async () => {
    const root = await insert({});
    const other = await insert({});
    const child = await insert({ parent: root, root, depth: 2 });
    for (const change of ["parent_run_id = $2", "root_run_id = $2", "parent_run_id = null", "depth = 3"]) {
      const values = change.includes("$2") ? [child, other] : [child];
      const update = base.db.query(`test.${change}`, `update runs set ${change} where run_id = $1`, values);
      await expect(update).rejects.toThrow("never changes");
    }
    await base.db.query("test.start", "update runs set status = 'processing', progress = 0.1 where run_id = $1", [
      child,
    ]);
  });

  it("goes no deeper than 64 levels", async () => {
    const root = await insert({});
    let parent = root;
    for (let depth = 2; depth <= 64; depth++) parent = await insert({ parent, root, depth });
    await expect(insert({ parent, root, depth: 65 })).rejects.toThrow("check constraint");
    expect(await findRunTree(base.db, TENANT, root)).toHaveLength(64);
  });
});

describe("a tree", () => {
  it("is its tenant's alone", async () => {
    const root = await insert({});
    expect(await findRunTree(base.db, v7(), root)).toEqual([]);
  });

  it("is found whole though a server's clock was behind when a child was made", async () => {
    const root = await insert({});
    const early = v7({ msecs: Date.now() - 60 * 60 * 1000 });
    await insert({ run_id: early, parent: root, root, depth: 2 });
    expect((await findRunTree(base.db, TENANT, root)).map((row) => row.run_id).sort()).toEqual([root, early].sort());
  });
});

it.each([
  { prompt: "a boat", input: { prompt: "a ship" } },
  ...["prompt", "text", "lyrics", "question"].map((name) => ({ input: { [name]: "a boat", words: "a ship" } })),
  { input: { lyrics: "a ship", prompt: "a boat" } },
  { input: {} },
  {},
])("the database and the contract find the same prompt in %j", async (inputs) => {
  const rows = await base.db.query(
    "test.prompt",
    `select ${PROMPT} as prompt from (select $1::jsonb as inputs) as runs`,
    [JSON.stringify(inputs)],
  );
  const expected = JSON.stringify(inputs).includes("a boat") ? "a boat" : undefined;
  expect([rows[0]!.prompt ?? undefined, promptOf(inputs)]).toEqual([expected, expected]);
});

// The library's rows: versions, tenants, keys, search, and what happens when two change a prompt at once.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import {
  deletePromptRow,
  findPrompt,
  insertPrompt,
  listPromptRows,
  type NewPrompt,
  updatePromptRow,
} from "./prompts.ts";

let base: TestDatabase;
beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

const caller = () => ({ tenant_id: v7(), user_id: "u" });
const make = async (owner: ReturnType<typeof caller>, more: Partial<NewPrompt> = {}) =>
  (await insertPrompt(base.db, {
    ...{ ...owner, prompt_id: v7(), name: "name", text: "text", model_type: null, tags: [] },
    ...more,
  }))!;
const versionsOf = (promptId: string) =>
  base.db.query("test.versions", "select version from prompt_versions where prompt_id = $1", [promptId]);

describe("a prompt", () => {
  it("keeps every version, and reads as it is or as it was", async () => {
    const owner = caller();
    const first = await make(owner, { text: "one", tags: ["a", "b"], model_type: "flux-dev" });
    const id = { ...owner, prompt_id: first.prompt_id };
    const second = await updatePromptRow(base.db, id, { text: "two" });
    const third = await updatePromptRow(base.db, id, { model_type: null, tags: [] });
    expect(second).toMatchObject({ version: 2, name: "name", text: "two", tags: ["a", "b"], model_type: "flux-dev" });
    expect(third).toMatchObject({ version: 3, text: "two", tags: [], model_type: null });

    const read = (version?: number) => findPrompt(base.db, owner.tenant_id, first.prompt_id, version);
    expect(await read()).toEqual(third);
    expect(await read(1)).toEqual(first);
    expect(await read(2)).toEqual(second);
    expect(await read(4)).toBeUndefined();
  });

  it("is changed only from the version that was expected", async () => {
    const owner = caller();
    const { prompt_id } = await make(owner);
    expect(await updatePromptRow(base.db, { ...owner, prompt_id, version: 2 }, { text: "x" })).toBeUndefined();
    expect(await updatePromptRow(base.db, { ...owner, prompt_id, version: 1 }, { text: "x" })).toMatchObject({
      version: 2,
    });
  });

  it("has one winner of twenty who expect the same version, and loses no change of twenty who expect none", async () => {
    const owner = caller();
    const { prompt_id } = await make(owner);
    const twenty = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    const races = twenty.map((text) => updatePromptRow(base.db, { ...owner, prompt_id, version: 1 }, { text }));
    expect((await Promise.all(races)).filter(Boolean)).toHaveLength(1);

    const all = await Promise.all(twenty.map((text) => updatePromptRow(base.db, { ...owner, prompt_id }, { text })));
    const versions = all.map((row) => row!.version).sort((a, b) => a - b);
    expect(versions).toEqual(twenty.map((_, n) => n + 3));
    for (const row of all) {
      const kept = await findPrompt(base.db, owner.tenant_id, prompt_id, row!.version);
      expect(kept?.text).toBe(row!.text);
    }
  });

  it("goes with all its versions", async () => {
    const owner = caller();
    const { prompt_id } = await make(owner);
    const last = await updatePromptRow(base.db, { ...owner, prompt_id }, { name: "last" });
    expect(await deletePromptRow(base.db, owner.tenant_id, prompt_id)).toEqual(last);
    expect(await deletePromptRow(base.db, owner.tenant_id, prompt_id)).toBeUndefined();
    expect(await findPrompt(base.db, owner.tenant_id, prompt_id, 1)).toBeUndefined();
    expect(await versionsOf(prompt_id)).toEqual([]);
  });

  it("cannot be read, listed, changed or deleted by another user", async () => {
    const [owner, other] = [caller(), caller()];
    const { prompt_id } = await make(owner);
    expect(await findPrompt(base.db, other.tenant_id, prompt_id)).toBeUndefined();
    expect(await listPromptRows(base.db, other.tenant_id, {}, 10)).toEqual([]);
    expect(await updatePromptRow(base.db, { ...other, prompt_id }, { text: "mine" })).toBeUndefined();
    expect(await deletePromptRow(base.db, other.tenant_id, prompt_id)).toBeUndefined();
    expect(await findPrompt(base.db, owner.tenant_id, prompt_id)).toMatchObject({ text: "text", version: 1 });
  });

  it("is made once for a key, however often it is asked for at once", async () => {
    const owner = caller();
    const idempotency = { key: "once", fingerprint: Buffer.from("f"), caller_id: v7() };
    const made = await Promise.all(Array.from({ length: 8 }, () => make(owner, { idempotency })));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await listPromptRows(base.db, owner.tenant_id, {}, 10)).toHaveLength(1);
  });
});

describe("the list", () => {
  it("goes from newest to oldest, page by page, each once, while others are being made", async () => {
    const owner = caller();
    const ids = [];
    for (let n = 0; n < 7; n++) ids.unshift((await make(owner)).prompt_id);
    const seen: string[] = [];
    for (let before: string | undefined; ; before = seen.at(-1)) {
      const page = await listPromptRows(base.db, owner.tenant_id, { before }, 3);
      if (page.length === 0) break;
      seen.push(...page.map((row) => row.prompt_id));
      await make(owner);
    }
    expect(seen).toEqual(ids);
  });

  it.each<[string, { tag?: string; q?: string }, string[]]>([
    ["a tag", { tag: "sea" }, ["Übersicht", "plain"]],
    ["a tag, whole and in its own case", { tag: "Sea" }, []],
    ["words of the name, in any case and script", { q: "üBERS" }, ["Übersicht"]],
    ["words of the text", { q: "100% _GREEN_" }, ["signs"]],
    ["signs of a pattern as themselves", { q: "%" }, ["signs"]],
    ["wide letters as narrow ones", { q: "ｐｌａｉｎ" }, ["plain"]],
    ["tag and words together", { tag: "sea", q: "harbour" }, ["plain"]],
    ["nothing that there is", { q: "nowhere" }, []],
  ])("is narrowed by %s", async (_, filter, names) => {
    const owner = caller();
    await make(owner, { name: "plain", text: "A Harbour", tags: ["sea", "dusk"] });
    await make(owner, { name: "signs", text: "100% _green_ \\ 'quoted'", tags: [] });
    await make(owner, { name: "Übersicht", text: "Berge", tags: ["sea"] });
    expect((await listPromptRows(base.db, owner.tenant_id, filter, 10)).map((row) => row.name)).toEqual(names);
  });

  it("finds by the words of the present version, not of an old one", async () => {
    const owner = caller();
    const { prompt_id } = await make(owner, { text: "winter" });
    await updatePromptRow(base.db, { ...owner, prompt_id }, { text: "summer" });
    expect(await listPromptRows(base.db, owner.tenant_id, { q: "winter" }, 10)).toEqual([]);
    expect(await listPromptRows(base.db, owner.tenant_id, { q: "summer" }, 10)).toHaveLength(1);
  });

  it("searches 10,000 prompts for what is in none of them within a second", async () => {
    const owner = caller();
    await base.db.query(
      "test.many",
      `insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text)
       select $1, gen_random_uuid(), 'n', body, 'n', body
       from generate_series(1, 10000), lateral (select repeat('a harbour at dusk, ', 30) as body) as made`,
      [owner.tenant_id],
    );
    const from = performance.now();
    expect(await listPromptRows(base.db, owner.tenant_id, { q: "lighthouse" }, 100)).toEqual([]);
    expect(performance.now() - from).toBeLessThan(1000);
  });
});

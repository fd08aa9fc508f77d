// Idempotent creation against PostgreSQL, with prompts as the resource.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { deletePromptRow, findPrompt, insertPrompt, type PromptRow } from "../db/library/prompts.ts";
import { Fault } from "../faults/faults.ts";
import { createOnce, type IdempotencyContext, type IdempotentCreation } from "./create-once.ts";

let base: TestDatabase;
beforeAll(async () => {
  base = await startTestDatabase();
});
afterAll(() => base?.stop());

const newContext = (changes: Partial<Omit<IdempotencyContext, "onReplay">> = {}) => ({
  database: base.db,
  caller: { tenant_id: v7(), user_id: "u", key_id: v7() },
  idempotencyKey: "key",
  onReplay: vi.fn(),
  ...changes,
});

const promptCreation = (
  { caller }: IdempotencyContext,
  text: string,
  changes: Partial<IdempotentCreation<PromptRow>> = {},
): IdempotentCreation<PromptRow> => ({
  operation: "prompts.create",
  kind: "prompt",
  input: { text },
  create: (idempotency) =>
    insertPrompt(base.db, {
      ...{
        tenant_id: caller.tenant_id,
        user_id: "u",
        prompt_id: v7(),
        name: "name",
        text,
        model_type: null,
        tags: [],
        idempotency,
      },
    }),
  find: (promptId) => findPrompt(base.db, caller.tenant_id, promptId),
  ...changes,
});

const createPrompt = (
  context: IdempotencyContext,
  text: string,
  changes: Partial<IdempotentCreation<PromptRow>> = {},
): Promise<PromptRow> => createOnce(context, promptCreation(context, text, changes));

describe("a request with an idempotency key", () => {
  it("creates the resource and stores what the key stands for", async () => {
    const context = newContext();
    const { prompt_id } = await createPrompt(context, "one");
    const keys = await base.db.query(
      "test.keys",
      "select resource_kind, resource_id from idempotency_keys where tenant_id = $1",
      [context.caller.tenant_id],
    );
    expect(keys).toEqual([{ resource_kind: "prompt", resource_id: prompt_id }]);
    expect(context.onReplay).not.toHaveBeenCalled();
  });

  it("returns the earlier resource if it is repeated, and does not create again", async () => {
    const context = newContext();
    const first = await createPrompt(context, "one");
    const create = vi.fn();
    expect(await createPrompt(context, "one", { create })).toEqual(first);
    expect(create).not.toHaveBeenCalled();
    expect(context.onReplay).toHaveBeenCalledTimes(1);
  });

  it("is refused if the key was used with another input or for another kind of resource", async () => {
    const context = newContext();
    await createPrompt(context, "one");
    const reused = expect.objectContaining({ code: "idempotency_key_reused" });
    await expect(createPrompt(context, "two")).rejects.toEqual(reused);
    await expect(createPrompt(context, "one", { operation: "prompts.copy" })).rejects.toEqual(reused);
    await expect(createPrompt(context, "one", { kind: "run" })).rejects.toEqual(reused);
    expect(context.onReplay).not.toHaveBeenCalled();
  });

  it("is a replay if a concurrent request takes the key after the first look-up", async () => {
    const context = newContext();
    const other = newContext({ caller: context.caller });
    let winner: PromptRow | undefined;
    const result = await createPrompt(context, "one", {
      async create(idempotency) {
        winner = await createPrompt(other, "one");
        return promptCreation(context, "one").create(idempotency);
      },
    });
    expect(result).toEqual(winner);
    expect([other.onReplay.mock.calls.length, context.onReplay.mock.calls.length]).toEqual([0, 1]);
  });

  it("creates one resource if it is sent twenty times at once", async () => {
    const context = newContext();
    const rows = await Promise.all(Array.from({ length: 20 }, () => createPrompt(context, "one")));
    expect(new Set(rows.map((row) => row.prompt_id)).size).toBe(1);
    expect(context.onReplay).toHaveBeenCalledTimes(19);
  });

  it("is separate from a request of another tenant with the same key", async () => {
    const [first, second] = [await createPrompt(newContext(), "one"), await createPrompt(newContext(), "two")];
    expect([first.text, second.text]).toEqual(["one", "two"]);
  });

  it("can be retried later if the earlier resource cannot be read yet", async () => {
    const context = newContext();
    await createPrompt(context, "one");
    const find = async () => undefined;
    await expect(createPrompt(context, "one", { find })).rejects.toMatchObject({ code: "idempotency_in_progress" });
    expect(context.onReplay).not.toHaveBeenCalled();
  });

  it("is a replay that returns the fault of the operation if the earlier resource was deleted", async () => {
    const context = newContext();
    const { prompt_id } = await createPrompt(context, "one");
    await deletePromptRow(base.db, context.caller.tenant_id, prompt_id);
    await expect(createPrompt(context, "one", { missingFault: "prompt_not_found" })).rejects.toMatchObject({
      code: "prompt_not_found",
    });
    expect(context.onReplay).toHaveBeenCalledTimes(1);
  });

  it("leaves the key free if the creation is refused, and returns the reason", async () => {
    const context = newContext();
    const refused = { create: async () => undefined };
    const explainRefusal = () => new Fault("conflict", { reason: "too_many" });
    await expect(createPrompt(context, "one", refused)).rejects.toMatchObject({ code: "idempotency_in_progress" });
    await expect(createPrompt(context, "one", { ...refused, explainRefusal })).rejects.toMatchObject({
      code: "conflict",
      details: { reason: "too_many" },
    });
    expect(await createPrompt(context, "two")).toMatchObject({ text: "two" });
  });
});

describe("a request without an idempotency key", () => {
  it("creates a new resource each time", async () => {
    const context = newContext({ idempotencyKey: undefined });
    const [first, second] = [await createPrompt(context, "one"), await createPrompt(context, "one")];
    expect(first.prompt_id).not.toBe(second.prompt_id);
    expect(context.onReplay).not.toHaveBeenCalled();
  });

  it("stores no key", async () => {
    const create = vi.fn(async () => ({ text: "one" }) as PromptRow);
    await createPrompt(newContext({ idempotencyKey: undefined }), "one", { create });
    expect(create).toHaveBeenCalledWith(undefined);
  });
});

it("a replay needs no listener", async () => {
  const { onReplay: _, ...context } = newContext();
  expect(await createPrompt(context, "one")).toEqual(await createPrompt(context, "one"));
});

describe("a key", () => {
  const create = (context: IdempotencyContext, text = "one") => createPrompt(context, text);
  const contextOf = (caller: Partial<IdempotencyContext["caller"]>, base = newContext()) =>
    newContext({ caller: { ...base.caller, ...caller } });
  const tokenOf = (end_user: string) => ({ token: { token_id: v7(), max_spend: null, end_user } });

  it("of one credential stands for nothing to another one of the tenant", async () => {
    const own = newContext();
    const others = [
      contextOf({ key_id: v7() }, own),
      contextOf({ key_id: null }, own),
      contextOf({ key_id: null, user_id: "another" }, own),
      contextOf(tokenOf("alice"), own),
      contextOf(tokenOf("bob"), own),
    ];
    const first = await create(own);
    const prompts = [first];
    for (const [index, other] of others.entries()) {
      prompts.push(await create(other, `text ${index}`));
      expect(other.onReplay).not.toHaveBeenCalled();
    }
    expect(new Set(prompts.map(({ prompt_id }) => prompt_id)).size).toBe(6);
    expect(await create(own)).toEqual(first);
  });

  it.each<[string, (own: { key_id: string }) => Partial<IdempotencyContext["caller"]>[]]>([
    ["API key that was rotated twice", ({ key_id }) => [{ key_id: v7(), holder_id: key_id }]],
    ["end user whose token was renewed", () => [tokenOf("alice"), tokenOf("alice")]],
    [
      "end user whose token was renewed after a rotation of the key",
      ({ key_id }) => [tokenOf("alice"), { ...tokenOf("alice"), key_id: v7(), holder_id: key_id }],
    ],
    [
      "user who signed in again",
      () => [1, 2].map(() => ({ session: { session_id: v7(), method: "code" as const, last_login_at: null } })),
    ],
    ["user of an identity provider", () => [{ key_id: null }, { key_id: null }]],
  ])("of an %s stands for the same", async (_, callersOf) => {
    const own = newContext();
    const callers = callersOf({ key_id: own.caller.key_id! });
    const contexts = (callers.length === 1 ? [{}, ...callers] : callers).map((caller) => contextOf(caller, own));
    const [first, second] = [await create(contexts[0]!), await create(contexts[1]!)];
    expect(second).toEqual(first);
    expect(contexts[1]!.onReplay).toHaveBeenCalledTimes(1);
  });
});

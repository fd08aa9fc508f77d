// Keys made with keys, on a real database: who is above whom, whose limits count, and what ends with what.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KeyDraft, openKeys } from "../../test/support/key-operations.ts";
import { createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { type Caller, limitHolders } from "../db/access/caller.ts";
import { hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";
import { createCursorSigner } from "./cursors.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];
const cursors = createCursorSigner([new Uint8Array(32)], { now: () => 0 });
const storeOf = (caller: Caller) => openKeys({ database: database.db.forTenant(caller.tenant_id), caller, cursors });
/** The caller of a key as authentication finds it now. */
const findCaller = (key: string) =>
  createApiKeyLookup(database.db, { now: () => Date.now() }).find({ digest: hashApiKey(key) });
type TestKey = { id: string; key: string; caller: Caller };
const newRoot = async (about: Parameters<typeof createTestTenant>[1] = {}): Promise<TestKey> => {
  const { key, key_id } = await createTestTenant({ url: "", query } as never, about);
  return { id: key_id, key, caller: (await findCaller(key))! };
};
const newChild = async ({ caller }: Pick<TestKey, "caller">, about: Partial<KeyDraft> = {}): Promise<TestKey> => {
  const { id, key } = await storeOf(caller).create({ name: "child", scopes: ["*"], limits: {}, ...about });
  return { id, key: key!, caller: (await findCaller(key!))! };
};
const newLine = async (root: TestKey) => {
  const parent = await newChild(root);
  const child = await newChild(parent);
  return { parent, child, grandchild: await newChild(child) };
};
const areAccepted = (...keys: TestKey[]) =>
  Promise.all(keys.map(async ({ key }) => (await findCaller(key)) !== undefined));
const reason = (name: string) => ({ code: "permission_denied", details: expect.objectContaining({ reason: name }) });
const auditOf = (tenantId: string, action: string) =>
  query<{ subject: string; details: object }>(
    "select subject, details from audit_log where tenant_id = $1 and action = $2 order by entry",
    [tenantId, action],
  );

describe("a key made with a key", () => {
  it("is its child: the limits of all keys above count it, and it shows its parent", async () => {
    const root = await newRoot({ limits: { open_runs: 5 } });
    const { parent, child, grandchild } = await newLine(root);
    expect(limitHolders(grandchild.caller)).toEqual(
      [root, parent, child, grandchild].map(({ id }) => ({ holder_id: id, limits: { open_runs: 5 } })),
    );
    const keys = await Promise.all([root, parent, child, grandchild].map(({ id }) => storeOf(root.caller).get(id)));
    expect(keys.map(({ parent_key_id, descendants }) => [parent_key_id, descendants])).toEqual([
      ...[
        [null, 3],
        [root.id, 2],
        [parent.id, 1],
        [child.id, 0],
      ],
    ]);
    const { data } = await storeOf(root.caller).list({ limit: 9 });
    expect(data.map(({ id, parent_key_id }) => [id, parent_key_id])).toContainEqual([grandchild.id, child.id]);
  });

  it("is refused below the eighth key of a line", async () => {
    let key = await newRoot();
    for (let depth = 2; depth <= 8; depth++) key = await newChild(key);
    expect(limitHolders(key.caller)).toHaveLength(8);
    await expect(newChild(key)).rejects.toMatchObject(reason("key_depth"));
  });

  it("is a root if a session of the console made it, unless limits bind the key of the session", async () => {
    const session = { session_id: v7(), method: "key", last_login_at: null } as const;
    const parentOf = async (caller: Caller) => {
      const { id } = await newChild({ caller: { ...caller, session } });
      return (await storeOf(caller).get(id)).parent_key_id;
    };
    const [free, limited] = [await newRoot(), await newRoot({ limits: { spend_per_day: 1 } })];
    expect(await parentOf(free.caller)).toBeNull();
    expect(await parentOf(limited.caller)).toBe(limited.id);
    expect(await parentOf((await newChild(free)).caller)).not.toBeNull();
  });

  it("is a root if the caller has no key", async () => {
    const { caller } = await newRoot();
    const made = await storeOf({ ...caller, key_id: null, holder_id: undefined } as never).create({
      ...{ name: "external", scopes: ["*"], limits: {} },
    });
    expect(made.parent_key_id).toBeNull();
  });

  it("is narrowed with the scopes, the limits and the expiry of a key above it", async () => {
    const root = await newRoot();
    const { parent, grandchild } = await newLine(root);
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await storeOf(root.caller).update(parent.id, { scopes: ["runs:read"], limits: { open_runs: 1 }, expires_at });
    const narrowed = (await findCaller(grandchild.key))!;
    expect(narrowed).toMatchObject({ scopes: ["runs:read"], expires_at: new Date(expires_at) });
    expect(limitHolders(narrowed)).toContainEqual({ holder_id: parent.id, limits: { open_runs: 1 } });
    const made = await newChild({ caller: { ...narrowed, scopes: ["runs:read"] } }, { scopes: ["runs:read"] });
    expect(await storeOf(root.caller).get(made.id)).toMatchObject({ limits: { open_runs: 1 }, expires_at });
  });

  it("keeps a scope that must be named as long as the keys above it may grant it", async () => {
    const root = await newRoot({ scopes: ["*", "tenants:*"] });
    const scopes = ["runs:read", "agents:write", "tenants:read", "content:read"];
    const child = await newChild(root, { scopes });
    expect([...child.caller.scopes].sort()).toEqual([...scopes].sort());
    await query("update api_keys set scopes = '{runs:*}' where key_id = $1", [root.id]);
    expect((await findCaller(child.key))!.scopes).toEqual(["runs:read"]);
  });

  it("cannot be widened beyond a key above it, also not by a key without limits", async () => {
    const root = await newRoot();
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const parent = await newChild(root, { scopes: ["runs:*", "keys:*"], limits: { open_runs: 2 }, expires_at });
    const child = await newChild(parent, { scopes: ["runs:read"] });
    for (const change of [{ scopes: ["images:write"] }, { limits: { open_runs: 3 } }, { expires_at: null }])
      await expect(storeOf(root.caller).update(child.id, change)).rejects.toMatchObject({
        code: change.scopes ? "insufficient_scope" : "permission_denied",
      });
    expect(await storeOf(root.caller).update(child.id, { limits: {} })).toMatchObject({ limits: { open_runs: 2 } });
  });
});

describe("a key with limits or keys above it", () => {
  it("changes, rotates and revokes no key above it", async () => {
    const root = await newRoot();
    const { parent, grandchild } = await newLine(root);
    const store = storeOf(grandchild.caller);
    await expect(store.update(parent.id, { name: "mine" })).rejects.toMatchObject(reason("parent_key"));
    await expect(store.rotate(parent.id, 0)).rejects.toMatchObject(reason("parent_key"));
    await expect(store.revoke(parent.id)).rejects.toMatchObject(reason("parent_key"));
  });

  it("gets the replacement of its own descendants only", async () => {
    const root = await newRoot({ limits: { spend_per_day: 1 } });
    const other = await newRoot({ tenantId: root.caller.tenant_id, limits: { spend_per_day: 1 } });
    const child = await newChild(root);
    await expect(storeOf(root.caller).rotate(other.id, 0)).rejects.toMatchObject(reason("not_a_descendant"));
    await expect(storeOf(root.caller).update(other.id, { name: "x" })).rejects.toMatchObject(
      reason("not_a_descendant"),
    );
    expect((await storeOf(root.caller).rotate(child.id, 0)).parent_key_id).toBe(root.id);
  });

  it("cannot free its children from its limits by ending itself", async () => {
    const root = await newRoot({ limits: { spend_per_day: 1 } });
    const child = await newChild(root);
    for (const kept of [{ keep_children: true }, { keep_keys: [child.id] }])
      await expect(storeOf(root.caller).revoke(root.id, kept)).rejects.toMatchObject(reason("keep_children"));
    expect(await areAccepted(root, child)).toEqual([true, true]);
  });
});

describe("revoking a key", () => {
  it("ends its descendants and no other key, each with an event and an entry of the audit log", async () => {
    const root = await newRoot();
    const { parent, child, grandchild } = await newLine(root);
    const sibling = await newChild(root);
    await storeOf(root.caller).revoke(parent.id);
    expect(await areAccepted(root, sibling, parent, child, grandchild)).toEqual([true, true, false, false, false]);
    const { tenant_id } = root.caller;
    const ended = [parent, child, grandchild].map(({ id }) => id);
    expect(await auditOf(tenant_id, "keys.revoke")).toEqual(
      ended.map((subject) => ({ subject, details: subject === parent.id ? {} : { revoked_parent: parent.id } })),
    );
    const events = await query<{ key_id: string }>(
      "select data ->> 'key_id' as key_id from events where tenant_id = $1 and type = 'api_key.revoked' order by 1",
      [tenant_id],
    );
    expect(events.map(({ key_id }) => key_id)).toEqual(ended);
    expect((await storeOf(root.caller).get(root.id)).descendants).toBe(1);
    await storeOf(root.caller).revoke(parent.id);
    expect(await auditOf(tenant_id, "keys.revoke")).toHaveLength(3);
  });

  it("keeps its children below the key above it, if the request says so", async () => {
    const root = await newRoot();
    const { parent, child, grandchild } = await newLine(root);
    await storeOf(root.caller).revoke(parent.id, { keep_children: true });
    expect(await areAccepted(parent, child, grandchild)).toEqual([false, true, true]);
    expect((await storeOf(root.caller).get(child.id)).parent_key_id).toBe(root.id);
    expect(limitHolders((await findCaller(grandchild.key))!).map(({ holder_id }) => holder_id)).toEqual([
      ...[root.id, child.id, grandchild.id],
    ]);
    expect(await auditOf(root.caller.tenant_id, "keys.keep")).toEqual(
      [child, grandchild].map(({ id: subject }) => ({ subject, details: { revoked_parent: parent.id } })),
    );
  });

  it("keeps those that the request names, with their descendants, and ends the rest", async () => {
    const root = await newRoot();
    const { parent, child, grandchild } = await newLine(root);
    const [sibling, below] = [await newChild(parent), await newChild(grandchild)];
    await storeOf(root.caller).revoke(parent.id, { keep_keys: [grandchild.id] });
    expect(await areAccepted(parent, child, sibling, grandchild, below)).toEqual([false, false, false, true, true]);
    expect((await storeOf(root.caller).get(grandchild.id)).parent_key_id).toBe(root.id);
    expect((await storeOf(root.caller).get(below.id)).parent_key_id).toBe(grandchild.id);
  });

  it("is refused if it names a key to keep that is unknown, of another tenant, or no descendant", async () => {
    const [root, foreign] = [await newRoot(), await newRoot()];
    const { parent, child } = await newLine(root);
    for (const [id, code] of [
      [v7(), "route_not_found"],
      [foreign.id, "route_not_found"],
      [root.id, "conflict"],
    ] as const)
      await expect(storeOf(root.caller).revoke(parent.id, { keep_keys: [id] })).rejects.toMatchObject({ code });
    expect(await areAccepted(parent, child)).toEqual([true, true]);
  });

  it("leaves no child that was made or rotated at the same time", async () => {
    for (let round = 0; round < 10; round++) {
      const root = await newRoot();
      const parent = await newChild(root);
      const child = await newChild(parent);
      const made = await Promise.allSettled([
        ...Array.from({ length: 4 }, () => newChild(child)),
        storeOf(root.caller).rotate(child.id, 60),
        storeOf(root.caller).revoke(parent.id),
      ]);
      expect(made.at(-1)!.status).toBe("fulfilled");
      const rows = await query<{ key_id: string; revoked_at: Date | null }>(
        "select key_id, revoked_at from api_keys where tenant_id = $1 and key_id <> $2",
        [root.caller.tenant_id, root.id],
      );
      expect(rows.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
    }
  });
});

describe("the end of a key above", () => {
  it("by its expiry ends the keys below it", async () => {
    const { parent, child, grandchild } = await newLine(await newRoot());
    await query("update api_keys set expires_at = now() where key_id = $1", [parent.id]);
    expect(await areAccepted(parent, child, grandchild)).toEqual([false, false, false]);
  });
});

describe("a rotated key", () => {
  it("keeps its place and its children, which end with the new key and not with the old one", async () => {
    const root = await newRoot();
    const { parent, child, grandchild } = await newLine(root);
    const next = await storeOf(root.caller).rotate(parent.id, 3600);
    const rotated = (await findCaller(next.key!))!;
    expect(limitHolders(rotated).map(({ holder_id }) => holder_id)).toEqual([root.id, parent.id]);
    expect(await storeOf(root.caller).get(next.id)).toMatchObject({ parent_key_id: root.id, descendants: 2 });
    expect((await storeOf(root.caller).get(child.id)).parent_key_id).toBe(next.id);
    await storeOf(root.caller).revoke(parent.id);
    expect(await areAccepted(parent, child, grandchild)).toEqual([false, true, true]);
    const late = await newChild({ caller: rotated });
    await storeOf(root.caller).revoke(next.id);
    expect(await areAccepted(child, grandchild, late)).toEqual([false, false, false]);
  });

  it("leaves its children valid after the overlap, and with the limits of the new key", async () => {
    const root = await newRoot();
    const parent = await newChild(root, { limits: { open_runs: 4 } });
    const child = await newChild(parent);
    const next = await storeOf(root.caller).rotate(parent.id, 0);
    await storeOf(root.caller).update(next.id, { limits: { open_runs: 2 } });
    expect(await areAccepted(parent, child)).toEqual([false, true]);
    expect(limitHolders((await findCaller(child.key))!)).toContainEqual({
      ...{ holder_id: parent.id, limits: { open_runs: 2 } },
    });
  });
});

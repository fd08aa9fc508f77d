// The key store on a real database: which keys a caller sees, creates, changes, rotates and revokes.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openKeys } from "../../test/support/key-operations.ts";
import { createCallerRecord, createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Caller } from "../db/access/caller.ts";
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
const invalidateCredentials = vi.fn();

/** The keys of a caller. */
const storeOf = (caller: Caller, idempotencyKey?: string) =>
  openKeys({ database: database.db, caller, cursors, idempotencyKey }, invalidateCredentials);
type Member = Omit<Parameters<typeof createTestTenant>[1] & object, "tenant">;
/** A member with a key, as a caller with this key. */
async function newCaller(member: Member = {}, about: Partial<Caller> = {}) {
  const { tenant_id, user_id, key_id } = await createTestTenant({ url: "", query } as never, member);
  const { role = "owner", scopes = ["*"] } = member;
  return createCallerRecord({ tenant_id, user_id, key_id, role, scopes, ...about });
}
const draft = { name: "web", scopes: ["runs:read"], limits: {} };
const isAccepted = async (key: string | null) =>
  (await createApiKeyLookup(database.db, { now: () => Date.now() }).find({ digest: hashApiKey(key!) })) !== undefined;
const fault = (code: string, details: object = {}) => ({ code, details: expect.objectContaining(details) });
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
const IN_TWO_HOURS = new Date(Date.now() + 7_200_000);

describe("creating a key", () => {
  it("returns the key once, with all that is stored of it", async () => {
    const caller = await newCaller({ user_id: "ann" });
    const { key, ...shown } = await storeOf(caller).create({ ...draft, limits: { open_runs: 3 } });
    expect(shown).toEqual({
      ...{ id: expect.any(String), name: "web", user_id: "ann", scopes: ["runs:read"], limits: { open_runs: 3 } },
      ...{ hint: key!.slice(40, 44), created_at: expect.stringMatching(/^\d{4}-.*Z$/) },
      ...{ expires_at: null, last_used_at: null, revoked_at: null, replaced_by: null },
      ...{ parent_key_id: caller.key_id, descendants: 0 },
    });
    expect(await storeOf(caller).get(shown.id)).toEqual(shown);
    expect(await isAccepted(key)).toBe(true);
  });

  it("is repeated with the same idempotency key, without the secret", async () => {
    const caller = await newCaller();
    const [first, second] = [
      await storeOf(caller, "once").create(draft),
      await storeOf(caller, "once").create({ ...draft }),
    ];
    expect(second).toEqual({ ...first, key: null });
    await expect(storeOf(caller, "once").create({ ...draft, name: "x" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  it("needs a member, and leaves the idempotency key free otherwise", async () => {
    const caller = await newCaller();
    const unknown = storeOf(caller, "k").create({ ...draft, user_id: "missing" });
    await expect(unknown).rejects.toMatchObject({ code: "route_not_found" });
    expect(await storeOf(caller, "k").create(draft)).toMatchObject({ name: "web" });
  });

  it("for another member needs the role of an owner", async () => {
    const owner = await newCaller({ user_id: "ann" });
    const ben = await newCaller({ tenantId: owner.tenant_id, user_id: "ben", role: "developer" });
    expect((await storeOf(owner).create({ ...draft, user_id: "ben" })).user_id).toBe("ben");
    expect((await storeOf(ben).create({ ...draft, user_id: "ben" })).user_id).toBe("ben");
    await expect(storeOf(ben).create({ ...draft, user_id: "ann" })).rejects.toMatchObject(
      fault("permission_denied", { role: "developer" }),
    );
  });

  it("passes on the limits and the expiry of the caller, and nothing wider", async () => {
    const caller = await newCaller({}, { limits: { open_runs: 2 }, grants_until: IN_AN_HOUR, scopes: ["runs:*"] });
    const key = await storeOf(caller).create({ ...draft, limits: { requests_per_minute: 5 } });
    expect(key).toMatchObject({
      ...{ limits: { open_runs: 2, requests_per_minute: 5 }, expires_at: IN_AN_HOUR.toISOString() },
    });
    expect((await storeOf(caller).create({ ...draft, expires_at: null })).expires_at).toBe(IN_AN_HOUR.toISOString());
    for (const [wide, code] of [
      [{ scopes: ["keys:read"] }, "insufficient_scope"],
      [{ limits: { open_runs: 3 } }, "permission_denied"],
      [{ expires_at: IN_TWO_HOURS.toISOString() }, "permission_denied"],
    ] as const)
      await expect(storeOf(caller).create({ ...draft, ...wide } as never)).rejects.toMatchObject({ code });
  });
});

describe("a list of keys", () => {
  it("has all keys of the tenant for an owner, the own keys for others, page by page", async () => {
    const owner = await newCaller({ user_id: "ann" });
    const ben = await newCaller({ tenantId: owner.tenant_id, user_id: "ben", role: "developer" });
    const { id } = await storeOf(owner).create({ ...draft, user_id: "ben" });
    await newCaller();
    const namesOf = async (caller: Caller) => (await storeOf(caller).list({ limit: 9 })).data.map((key) => key.id);
    expect(await namesOf(owner)).toEqual([id, ben.key_id, owner.key_id]);
    expect(await namesOf(ben)).toEqual([id, ben.key_id]);
    const { data, next_cursor } = await storeOf(owner).list({ limit: 2 });
    expect(data.map((key) => key.id)).toEqual([id, ben.key_id]);
    const rest = await storeOf(owner).list({ limit: 2, cursor: next_cursor! });
    expect([rest.data.map((key) => key.id), rest.next_cursor]).toEqual([[owner.key_id], null]);
    const other = await newCaller();
    for (const caller of [ben, other]) {
      await expect(storeOf(caller).list({ limit: 2, cursor: next_cursor! })).rejects.toMatchObject({
        code: "invalid_cursor",
      });
      await expect(storeOf(caller).get(owner.key_id!)).rejects.toMatchObject({ code: "route_not_found" });
    }
  });
});

describe("changing a key", () => {
  it("changes what is named, keeps the rest, and applies at once", async () => {
    const caller = await newCaller();
    const { key: _, ...made } = await storeOf(caller).create({
      ...{ ...draft, limits: { open_runs: 3 }, expires_at: IN_AN_HOUR.toISOString() },
    });
    invalidateCredentials.mockClear();
    expect(await storeOf(caller).update(made.id, { name: "renamed" })).toEqual({ ...made, name: "renamed" });
    expect(invalidateCredentials).toHaveBeenCalledTimes(1);
    expect(await storeOf(caller).update(made.id, { scopes: ["keys:read"] })).toMatchObject({ scopes: ["keys:read"] });
    expect(await storeOf(caller).update(made.id, { limits: { open_runs: 9 } })).toMatchObject({
      ...{ limits: { open_runs: 9 }, expires_at: IN_AN_HOUR.toISOString() },
    });
    const until = IN_TWO_HOURS.toISOString();
    expect((await storeOf(caller).update(made.id, { expires_at: until })).expires_at).toBe(until);
    expect((await storeOf(caller).update(made.id, { expires_at: null })).expires_at).toBeNull();
  });

  it("is refused beyond the permissions of the caller", async () => {
    const owner = await newCaller();
    const caller = { ...owner, key_id: null, limits: { open_runs: 2 }, grants_until: IN_AN_HOUR, scopes: ["runs:*"] };
    const { id } = await storeOf(caller).create(draft);
    const wide = await storeOf(owner).create({ ...draft, scopes: ["keys:read"] });
    for (const [change, code] of [
      [{ scopes: ["keys:read"] }, "insufficient_scope"],
      [{ limits: { open_runs: 3 } }, "permission_denied"],
      [{ expires_at: IN_TWO_HOURS.toISOString() }, "permission_denied"],
      [{ expires_at: null }, "permission_denied"],
    ] as const)
      await expect(storeOf(caller).update(id, change as never)).rejects.toMatchObject({ code });
    expect(await storeOf(caller).update(id, { limits: {} })).toMatchObject({ limits: { open_runs: 2 } });
    await expect(storeOf(caller).update(wide.id, { name: "mine" })).rejects.toMatchObject({
      code: "insufficient_scope",
    });
  });

  it("is refused to the key itself, to tokens, for revoked keys and for keys of others", async () => {
    const caller = await newCaller();
    const { id } = await storeOf(caller).create(draft);
    await expect(storeOf(caller).update(caller.key_id!, { name: "x" })).rejects.toMatchObject(
      fault("permission_denied", { reason: "own_key" }),
    );
    const token = { token_id: v7(), max_spend: null, end_user: "visitor-1" };
    await expect(storeOf({ ...caller, token }).update(id, { name: "x" })).rejects.toMatchObject(
      fault("permission_denied", { reason: "token" }),
    );
    await expect(storeOf(await newCaller()).update(id, { name: "x" })).rejects.toMatchObject({
      code: "route_not_found",
    });
    await storeOf(caller).revoke(id);
    await expect(storeOf(caller).update(id, { name: "x" })).rejects.toMatchObject(
      fault("conflict", { retryable: false, reason: "revoked" }),
    );
  });

  it("that another request revokes meanwhile is a conflict", async () => {
    const caller = await newCaller();
    const { id } = await storeOf(caller).create(draft);
    const changes = Array.from({ length: 8 }, (_, n) =>
      storeOf(caller).update(id, { scopes: n % 2 ? ["runs:read"] : ["keys:read"] }),
    );
    const results = await Promise.allSettled(changes);
    const codes = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set(["conflict"]));
  });
});

describe("rotating a key", () => {
  it("creates a key with the same rights, and ends the old one after the overlap", async () => {
    const caller = await newCaller();
    const old = await storeOf(caller).create({ ...draft, limits: { open_runs: 3 } });
    invalidateCredentials.mockClear();
    const next = await storeOf(caller).rotate(old.id, 0);
    expect(invalidateCredentials).toHaveBeenCalledTimes(1);
    expect(next).toMatchObject({ name: "web", scopes: ["runs:read"], limits: { open_runs: 3 }, replaced_by: null });
    expect([next.id === old.id, next.key === old.key, next.hint]).toEqual([false, false, next.key!.slice(40, 44)]);
    expect([await isAccepted(old.key), await isAccepted(next.key)]).toEqual([false, true]);
    expect((await storeOf(caller).get(old.id)).replaced_by).toBe(next.id);
    await expect(storeOf(caller).rotate(old.id, 0)).rejects.toMatchObject(
      fault("conflict", { retryable: false, reason: "not_in_force" }),
    );
  });

  it("is refused for a key with more scopes than the caller's", async () => {
    const owner = await newCaller();
    const wide = await storeOf(owner).create({ ...draft, scopes: ["keys:read"] });
    const caller = { ...owner, key_id: null, scopes: ["runs:*"] };
    await expect(storeOf(caller).rotate(wide.id, 0)).rejects.toMatchObject({ code: "insufficient_scope" });
    expect(await isAccepted(wide.key)).toBe(true);
  });

  it("is refused to the key itself", async () => {
    const caller = await newCaller();
    await expect(storeOf(caller).rotate(caller.key_id!, 0)).rejects.toMatchObject(
      fault("permission_denied", { reason: "own_key" }),
    );
  });
});

describe("revoking a key", () => {
  it("ends it at once, also if it is the caller's own, and can be repeated", async () => {
    const caller = await newCaller();
    const made = await storeOf(caller).create(draft);
    invalidateCredentials.mockClear();
    const revoked = await storeOf(caller).revoke(made.id);
    expect(revoked.revoked_at).toMatch(/^\d{4}-.*Z$/);
    expect([invalidateCredentials.mock.calls.length, await isAccepted(made.key)]).toEqual([1, false]);
    expect(await storeOf(caller).revoke(made.id)).toEqual(revoked);
    const weak = { ...caller, scopes: [], limits: { open_runs: 1 }, grants_until: IN_AN_HOUR };
    expect((await storeOf(weak).revoke(caller.key_id!)).revoked_at).toMatch(/^\d{4}-.*Z$/);
  });

  it("needs the scopes of the key, but neither its limits nor its expiry", async () => {
    const owner = await newCaller();
    const caller = { ...owner, key_id: null, scopes: ["runs:*"], limits: { open_runs: 1 }, grants_until: IN_AN_HOUR };
    const [narrow, wide] = [
      await storeOf(owner).create(draft),
      await storeOf(owner).create({ ...draft, scopes: ["keys:read"] }),
    ];
    expect((await storeOf(caller).revoke(narrow.id)).revoked_at).not.toBeNull();
    await expect(storeOf(caller).revoke(wide.id)).rejects.toMatchObject({ code: "insufficient_scope" });
    expect(await isAccepted(wide.key)).toBe(true);
  });

  it("is refused to tokens, also of the key itself", async () => {
    const caller = await newCaller();
    const token = { token_id: v7(), max_spend: null, end_user: "visitor-1" };
    await expect(storeOf({ ...caller, token }).revoke(caller.key_id!)).rejects.toMatchObject(
      fault("permission_denied", { reason: "token" }),
    );
  });
});

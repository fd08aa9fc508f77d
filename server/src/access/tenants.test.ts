// The tenants of an installation on a real database: create, list, read and change.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createCallerRecord, createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { Caller } from "../db/access/caller.ts";
import { insertTenantDeletion } from "../db/access/tenant-deletions.ts";
import { createTenant, getTenant, listMembers, listTenants, updateTenant } from "../operations/index.ts";
import { hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";
import { createCursorSigner } from "./cursors.ts";
import type { RequestContext } from "./request-context.ts";

let database: TestDatabase;
let operator: Caller;
beforeAll(async () => {
  database = await startTestDatabase();
  const query = (text: string, values: unknown[] = []) => database.owner.query(v7(), text, values);
  const { tenant_id, user_id, key_id } = await createTestTenant({ url: "", query } as never);
  operator = createCallerRecord({ tenant_id, user_id, key_id, scopes: ["tenants:*"] });
});
afterAll(() => database?.stop());

const cursors = createCursorSigner([new Uint8Array(32)], { now: () => 0 });
const invalidateCredentials = vi.fn();
beforeEach(() => void invalidateCredentials.mockClear());
const openTenants = (request: RequestContext) => {
  const provided = {
    ...{ systemDatabase: database.db, ids: { next: () => v7() }, cell: "", canSign: false, invalidateCredentials },
  };
  return {
    create: (draft: JsonObject, { user_id, name = null, email = null }: JsonObject) => {
      const owner = { owner_id: user_id, owner_name: name, owner_email: email };
      return createTenant.handle({ ...draft, ...owner }, request, provided);
    },
    list: (page: JsonObject) => listTenants.handle(page, request, provided),
    get: (tenant_id: string) => getTenant.handle({ tenant_id }, request, provided),
    update: (tenant_id: string, change: JsonObject) => updateTenant.handle({ tenant_id, ...change }, request, provided),
  };
};
const open = (idempotencyKey?: string, caller: Caller = operator) =>
  openTenants({ ...{ database: database.db, caller, cursors, idempotencyKey } } as never);
const acme = { name: "Acme", weight: 2, limits: { open_runs: 5 }, retention_days: 30 };
const time = expect.stringMatching(/^\d{4}-.*Z$/);
const holderOf = (key: string | null) =>
  createApiKeyLookup(database.db, { now: () => Date.now() }).find({ digest: hashApiKey(key!) });
const membersOf = (tenantId: string) =>
  database.owner.query(v7(), "select user_id, role, name, email from members where tenant_id = $1", [tenantId]);

describe("creating a tenant", () => {
  it("creates its owner and the owner's key, which has all scopes but the operator's", async () => {
    const { owner_key, ...tenant } = await open().create(acme, { user_id: "ada", name: "Ada" });
    const times = { created_at: time, updated_at: time };
    const defaults = { archive_after_days: null, provenance: null, suspended: false };
    expect(tenant).toEqual({ ...acme, id: expect.any(String), ...defaults, ...times });
    expect(await open().get(tenant.id)).toEqual(tenant);
    expect(owner_key).toMatchObject({ user_id: "ada", name: "The first key", scopes: ["*"], expires_at: null });
    expect(await holderOf(owner_key.key)).toMatchObject({
      ...{ tenant_id: tenant.id, user_id: "ada", role: "owner", scopes: ["*"], key_id: owner_key.id },
    });
    expect(await membersOf(tenant.id)).toEqual([{ user_id: "ada", role: "owner", name: "Ada", email: null }]);
  });

  it("keeps the address of the owner, who need not have a name", async () => {
    const { id } = await open().create(acme, { user_id: "ada", email: "ada@example.com" });
    expect(await membersOf(id)).toMatchObject([{ name: null, email: "ada@example.com" }]);
  });

  it("is refused if it is repeated, and names the tenant of the first request", async () => {
    const { id } = await open("once").create(acme, { user_id: "ada" });
    await expect(open("once").create(acme, { user_id: "ada" })).rejects.toMatchObject({
      ...{ code: "conflict", details: { retryable: false, reason: "already_made", tenant_id: id } },
    });
    for (const [draft, owner] of [
      [{ ...acme, weight: 3 }, "ada"],
      [acme, "bob"],
    ] as const) {
      await expect(open("once").create(draft, { user_id: owner })).rejects.toMatchObject({
        code: "idempotency_key_reused",
      });
    }
    expect((await open().create(acme, { user_id: "ada" })).id).not.toBe(id);
  });

  it("creates one tenant if it is sent several times at once", async () => {
    const count = async () => (await database.owner.query(v7(), "select from tenants where name = 'Race'")).length;
    const attempts = Array.from({ length: 8 }, () =>
      open("race").create({ ...acme, name: "Race" }, { user_id: "ada" }),
    );
    const results = await Promise.allSettled(attempts);
    expect(results.map((result) => (result.status === "rejected" ? result.reason.code : "created")).sort()).toEqual([
      ...Array(7).fill("conflict"),
      "created",
    ]);
    expect(await count()).toBe(1);
  });
});

describe("a tenant", () => {
  it("is changed in what is named, at once for all its credentials", async () => {
    const { owner_key: _, ...tenant } = await open().create(acme, { user_id: "ada" });
    const changed = await open().update(tenant.id, { weight: 7 });
    expect(changed).toEqual({ ...tenant, weight: 7, updated_at: changed.updated_at });
    expect((await open().update(tenant.id, { suspended: true })).suspended).toBe(true);
    expect((await open().get(tenant.id)).suspended).toBe(true);
    expect((await open().update(tenant.id, { suspended: false })).suspended).toBe(false);
    expect(invalidateCredentials).toHaveBeenCalledTimes(3);
  });

  it("that does not exist is neither shown nor changed", async () => {
    await expect(open().get(v7())).rejects.toMatchObject({ code: "route_not_found" });
    await expect(open().update(v7(), { weight: 7 })).rejects.toMatchObject({ code: "route_not_found" });
    expect(invalidateCredentials).not.toHaveBeenCalled();
  });

  it("that is being deleted is not changed", async () => {
    const { id } = await open().create(acme, { user_id: "ada" });
    await open().update(id, { suspended: true });
    await insertTenantDeletion(database.db, operator, id);
    await expect(open().update(id, { suspended: false })).rejects.toMatchObject({
      ...{ code: "conflict", details: { retryable: false, reason: "being_deleted" } },
    });
    expect((await open().get(id)).suspended).toBe(true);
  });

  it("is not managed with an access token", async () => {
    const { id } = await open().create(acme, { user_id: "ada" });
    const withToken = open(undefined, {
      ...operator,
      token: { token_id: v7(), max_spend: null, end_user: "visitor-1" },
    });
    for (const attempt of [() => withToken.create(acme, { user_id: "ada" }), () => withToken.update(id, { weight: 9 })])
      await expect(attempt()).rejects.toMatchObject({ code: "permission_denied", details: { reason: "token" } });
    expect((await open().get(id)).weight).toBe(2);
  });
});

it("tenants are listed page by page, newest first, and the cursor is one of tenants", async () => {
  const made = [await open().create(acme, { user_id: "a" }), await open().create(acme, { user_id: "b" })];
  const { data, next_cursor } = await open().list({ limit: 1 });
  expect(data.map((tenant) => tenant.id)).toEqual([made[1]!.id]);
  const second = await open().list({ limit: 1, cursor: next_cursor! });
  expect(second.data.map((tenant) => tenant.id)).toEqual([made[0]!.id]);
  // Another list of the same installation has cursors of its own.
  const request = { database: database.db, caller: operator, cursors } as unknown as RequestContext;
  const page = { limit: 1, cursor: next_cursor };
  await expect(listMembers.handle(page, request, { invalidateCredentials })).rejects.toMatchObject({
    code: "invalid_cursor",
  });
});

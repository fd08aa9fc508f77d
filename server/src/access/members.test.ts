// The members of a tenant on a real database: list, add, change and remove.
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createCallerRecord, createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { Caller } from "../db/access/caller.ts";
import { setMappedRole } from "../db/access/members.ts";
import { addMember, getMe, listMembers, removeMember, updateMember } from "../operations/index.ts";
import { createCursorSigner } from "./cursors.ts";
import type { RequestContext } from "./request-context.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const cursors = createCursorSigner([new Uint8Array(32)], { now: () => 0 });
const invalidateCredentials = vi.fn();
beforeEach(() => void invalidateCredentials.mockClear());

/** The owner of a new tenant. */
async function newOwner(): Promise<Caller> {
  const query = (text: string, values: unknown[] = []) => database.owner.query(v7(), text, values);
  const { tenant_id, user_id, key_id } = await createTestTenant({ url: "", query } as never, { user_id: "ann" });
  return createCallerRecord({ tenant_id, user_id, key_id });
}
const openMembers = (provided: { invalidateCredentials(): void }, request: RequestContext) => ({
  add: (member: JsonObject) => addMember.handle({ name: null, email: null, ...member }, request, provided),
  list: (page: JsonObject) => listMembers.handle(page, request, provided),
  update: (user_id: string, change: JsonObject) => updateMember.handle({ user_id, ...change }, request, provided),
  remove: (user_id: string) => removeMember.handle({ user_id }, request, provided),
  self: () => getMe.handle({}, request, provided),
});
const storeOf = (caller: Caller) =>
  openMembers({ invalidateCredentials }, { database: database.db, caller, cursors } as never);
const ben = { user_id: "ben", role: "developer" as const };

describe("a member", () => {
  it("is added with a role, and a name and an address if they are known", async () => {
    const members = storeOf(await newOwner());
    const added = await members.add(ben);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const without = { name: null, email: null, role_source: "gesso" };
    expect(added).toEqual({ ...ben, ...without, created_at: time, updated_at: time });
    expect(invalidateCredentials).toHaveBeenCalledTimes(1);
    const person = { user_id: "cy", name: "Cy", email: "cy@example.com" };
    expect(await members.add({ ...person, role: "viewer" })).toMatchObject({ ...person, role: "viewer" });
    expect((await members.list({ limit: 9 })).data.slice(1, 2)).toEqual([added]);
  });

  it("is not added twice", async () => {
    const members = storeOf(await newOwner());
    await members.add(ben);
    await expect(members.add({ ...ben, role: "owner" })).rejects.toMatchObject({
      ...{ code: "conflict", details: { retryable: false, reason: "already_member" } },
    });
    expect(invalidateCredentials).toHaveBeenCalledTimes(1);
  });

  it("is changed and removed, which applies at once to all credentials", async () => {
    const members = storeOf(await newOwner());
    const added = await members.add({ ...ben, name: "Ben" });
    const changed = await members.update("ben", { role: "viewer" });
    expect(changed).toEqual({ ...added, role: "viewer", updated_at: changed.updated_at });
    expect(await members.remove("ben")).toMatchObject({ user_id: "ben", role: "viewer", name: "Ben" });
    expect(invalidateCredentials).toHaveBeenCalledTimes(3);
    expect((await members.list({ limit: 9 })).data.map((member) => member.user_id)).toEqual(["ann"]);
  });

  it("whose role came from claims stays removed once an owner removes it, and has its role from the owner who adds it again", async () => {
    const owner = await newOwner();
    const members = storeOf(owner);
    const identity = { tenant_id: owner.tenant_id, user_id: "ben" };
    const claimed = (seconds: number) => ({
      ...{ role: "developer" as const, issuer: "corp", issued_at: new Date(Date.now() + seconds * 1000) },
    });
    await setMappedRole(database.db, identity, claimed(-60));
    expect((await members.list({ limit: 9 })).data[1]).toMatchObject({ ...ben, role_source: "identity_provider" });
    // A decision from before the change of an owner changes nothing, one from after it does.
    await members.update("ben", { role: "viewer" });
    await setMappedRole(database.db, identity, claimed(-30));
    expect((await members.list({ limit: 9 })).data[1]).toMatchObject({ role: "viewer" });
    await setMappedRole(database.db, identity, claimed(30));
    expect((await members.list({ limit: 9 })).data[1]).toMatchObject({ role: "developer" });
    await members.remove("ben");
    await setMappedRole(database.db, identity, claimed(60));
    expect((await members.list({ limit: 9 })).data).toHaveLength(1);
    expect(await members.add({ user_id: "ben", role: "viewer" })).toMatchObject({ role_source: "gesso" });
  });

  it("that does not exist, or belongs to another tenant, is neither changed nor removed", async () => {
    await storeOf(await newOwner()).add(ben);
    const members = storeOf(await newOwner());
    await expect(members.update("ben", { role: "viewer" })).rejects.toMatchObject({ code: "route_not_found" });
    await expect(members.remove("ben")).rejects.toMatchObject({ code: "route_not_found" });
    expect(invalidateCredentials).toHaveBeenCalledTimes(1);
  });

  it("is not managed with an access token", async () => {
    const owner = await newOwner();
    await storeOf(owner).add(ben);
    const members = storeOf({ ...owner, token: { token_id: v7(), max_spend: null, end_user: "visitor-1" } });
    for (const attempt of [
      () => members.add({ ...ben, user_id: "cy" }),
      () => members.update("ben", { role: "owner" }),
      () => members.remove("ben"),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "permission_denied", details: { reason: "token" } });
    expect((await members.list({ limit: 9 })).data).toMatchObject([{ user_id: "ann" }, ben]);
  });
});

it("members are listed page by page, and a cursor belongs to its tenant", async () => {
  const owner = await newOwner();
  for (const user_id of ["b.x", "c"]) await storeOf(owner).add({ ...ben, user_id });
  const { data, next_cursor } = await storeOf(owner).list({ limit: 2 });
  expect(data.map((member) => member.user_id)).toEqual(["ann", "b.x"]);
  const cursor = next_cursor!;
  expect(await storeOf(owner).list({ limit: 2, cursor })).toMatchObject({
    data: [{ user_id: "c" }],
    next_cursor: null,
  });
  await expect(storeOf(await newOwner()).list({ limit: 2, cursor })).rejects.toMatchObject({ code: "invalid_cursor" });
});

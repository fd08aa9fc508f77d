import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { generateApiKey, hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const query = async <R>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await database.owner.query(v7(), text, values)) as R[];

it("knows a key in use without a query, also after its cache entry has expired, until the key is revoked", async () => {
  let now = Date.now();
  const keys = createApiKeyLookup(database.db, { now: () => now });
  const { key, key_id } = await createTestTenant({ url: "", query } as never);
  const ref = { digest: hashApiKey(key) };
  const unknown = { digest: hashApiKey(generateApiKey()) };
  expect([keys.isKnown(ref), keys.isKnown(unknown)]).toEqual([false, false]);
  expect((await keys.find(ref))?.key_id).toBe(key_id);
  expect(await keys.find(unknown)).toBeUndefined();
  expect([keys.isKnown(ref), keys.isKnown(unknown)]).toEqual([true, true]);
  now += 60_000;
  expect([keys.isKnown(ref), keys.isKnown(unknown)]).toEqual([true, false]);
  await query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
  expect(await keys.find(ref)).toBeUndefined();
  now += 60_000;
  expect(keys.isKnown(ref)).toBe(false);
});

describe("the lookup of a key", () => {
  const openLookup = async (options: Parameters<typeof createTestTenant>[1] = {}) => {
    const clock = createManualClock(Date.now());
    const { key, ...tenant } = await createTestTenant({ url: "", query } as never, options);
    const counted: Database = { ...database.db };
    const statements: string[] = [];
    counted.execute = ((statement: { name: string }, ...values: never[]) => {
      statements.push(statement.name);
      return (database.db.execute as (...parameters: unknown[]) => unknown)(statement, ...values);
    }) as never;
    const ref = { digest: hashApiKey(key) };
    return { ...tenant, clock, ref, statements, counted, keys: createApiKeyLookup(counted, clock) };
  };

  it("returns the caller: who, in which tenant, with which rights", async () => {
    const expires_at = new Date(Date.now() + 3_600_000);
    const { keys, ref, key_id, tenant_id } = await openLookup({
      ...{ user_id: "ann", role: "viewer", scopes: ["runs:read"], limits: { open_runs: 1 }, expires_at },
      tenant: { weight: 3, limits: { open_runs: 9 } },
    });
    const caller = {
      ...{ key_id, tenant_id, user_id: "ann", role: "viewer", scopes: ["runs:read"], limits: { open_runs: 1 } },
      ...{
        holder_id: key_id,
        ancestors: [],
        expires_at,
        grants_until: expires_at,
        token: null,
        tenant: { weight: 3, limits: { open_runs: 9 } },
      },
    };
    expect(await keys.find(ref)).toEqual(caller);
    expect(await keys.find({ key_id })).toEqual(caller);
  });

  it("finds no key of a suspended tenant, and none at the moment of its expiry", async () => {
    const suspended = await openLookup();
    await query("update tenants set suspended_at = now() where tenant_id = $1", [suspended.tenant_id]);
    await expect(suspended.keys.find(suspended.ref)).rejects.toMatchObject({ code: "tenant_suspended" });
    const expires_at = new Date(Date.now() + 3_600_000);
    const expiring = await openLookup({ expires_at });
    expiring.clock.at = expires_at.getTime() - 1;
    expect(await expiring.keys.find(expiring.ref)).toBeDefined();
    expiring.clock.at++;
    expect(await expiring.keys.find(expiring.ref)).toBeUndefined();
  });

  it("is cached for seconds, also of a missing key, and until the cache is cleared", async () => {
    const { keys, ref, key_id, statements } = await openLookup();
    const missing = { digest: hashApiKey(generateApiKey()) };
    for (let n = 0; n < 3; n++) await Promise.all([keys.find(ref), keys.find(missing)]);
    expect(statements.filter((name) => name === "keys.find_holder")).toHaveLength(2);
    await query("update api_keys set revoked_at = now() where key_id = $1", [key_id]);
    expect(await keys.find(ref)).toBeDefined();
    keys.invalidate();
    expect(await keys.find(ref)).toBeUndefined();
  });

  it("records the use of a key once a minute, each key on its own", async () => {
    const { keys, ref, clock, statements } = await openLookup();
    const uses = () => statements.filter((name) => name === "keys.record_use").length;
    for (let n = 0; n < 3; n++) await keys.find(ref);
    expect(uses()).toBe(1);
    clock.at += 59_999;
    await keys.find(ref);
    expect(uses()).toBe(1);
    clock.at += 1;
    await keys.find(ref);
    await keys.find(ref);
    expect(uses()).toBe(2);
  });

  it("accepts the key if its use cannot be recorded, and records it next time", async () => {
    const { keys, ref, counted, statements } = await openLookup();
    const execute = counted.execute;
    counted.execute = ((statement: { name: string }, ...values: never[]) =>
      statement.name === "keys.record_use"
        ? Promise.reject(new Error("read-only"))
        : (execute as (...parameters: unknown[]) => unknown)(statement, ...values)) as never;
    expect(await keys.find(ref)).toBeDefined();
    counted.execute = execute;
    await expect.poll(() => keys.find(ref).then(() => statements)).toContain("keys.record_use");
  });

  it("remembers 10,000 keys in use, and forgets the one that was not used for longest", async () => {
    const holder = { key_id: "k", ancestors: [], expires_at: null, is_suspended: false };
    const used: string[] = [];
    const fake = {
      execute: async ({ name }: { name: string }, { key_id }: { key_id: string }) => {
        if (name === "keys.record_use") used.push(key_id);
        return [{ ...holder, key_id }];
      },
    } as never;
    const clock = createManualClock();
    const keys = createApiKeyLookup(fake, clock);
    for (let n = 0; n < 10_000; n++) await keys.find({ key_id: `k${n}` });
    await keys.find({ key_id: "k0" });
    await keys.find({ key_id: "k10000" });
    clock.at += 10_000;
    expect(["k0", "k1", "k2", "k10000"].map((key_id) => keys.isKnown({ key_id }))).toEqual([true, false, true, true]);
    // The same holds for the times of the last use: the oldest is forgotten, so its next use is recorded again.
    used.length = 0;
    await keys.find({ key_id: "k5000" });
    await keys.find({ key_id: "k0" });
    expect(used).toEqual(["k0"]);
  });

  it("forgets the last use of the key whose use was recorded longest ago", async () => {
    const used: string[] = [];
    const fake = {
      execute: async ({ name }: { name: string }, { key_id }: { key_id: string }) => {
        if (name === "keys.record_use") used.push(key_id);
        return [{ key_id, ancestors: [], expires_at: null, is_suspended: false }];
      },
    } as never;
    const clock = createManualClock();
    const keys = createApiKeyLookup(fake, clock);
    for (let n = 0; n < 10_000; n++) await keys.find({ key_id: `k${n}` });
    clock.at += 60_000;
    await keys.find({ key_id: "k0" });
    await keys.find({ key_id: "k10000" });
    used.length = 0;
    await keys.find({ key_id: "k0" });
    expect(used).toEqual([]);
  });
});

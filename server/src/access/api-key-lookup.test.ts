import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestTenant } from "../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
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

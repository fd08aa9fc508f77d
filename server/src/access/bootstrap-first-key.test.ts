import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { generateApiKey, hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";
import { bootstrapFirstKey } from "./bootstrap-first-key.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const holderOf = (key: string) => createApiKeyLookup(database.db, systemClock).find({ digest: hashApiKey(key) });

const audited = async () => {
  const rows = await database.owner.query<{ action: string; details: object }>(
    "test.audited",
    "select action, details from audit_log order by entry",
  );
  return rows.map(({ action, details }) => [action, details]);
};

it("creates one key at the first start, even if several processes start, and none later", async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => bootstrapFirstKey(database.db, {})));
  const keys = made.filter((key) => key !== undefined);
  expect(keys).toHaveLength(1);
  expect(await holderOf(keys[0]!)).toMatchObject({ role: "owner", scopes: ["*", "tenants:*"] });
  expect(await bootstrapFirstKey(database.db, {})).toBeUndefined();
  expect(await audited()).toEqual([["keys.create", { source: "first_start" }]]);
});

it("accepts the key of the settings while it is set, and no earlier one", async () => {
  const [first, second] = [generateApiKey(), generateApiKey()];
  expect(await bootstrapFirstKey(database.db, { GESSO_API_KEY: first })).toBeUndefined();
  expect(await holderOf(first)).toMatchObject({ user_id: "owner", scopes: ["*", "tenants:*"] });
  await bootstrapFirstKey(database.db, { GESSO_API_KEY: second });
  expect([await holderOf(first), (await holderOf(second))?.user_id]).toEqual([undefined, "owner"]);
  await bootstrapFirstKey(database.db, {});
  expect(await holderOf(second)).toBeUndefined();
  await bootstrapFirstKey(database.db, {});
  const source = { source: "settings" };
  expect((await audited()).slice(1)).toEqual([
    ...[
      ["keys.create", source],
      ["keys.create", source],
    ],
    ["keys.revoke", source],
  ]);
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { startDatabase, type TestDatabase } from "../../test/database.ts";
import { digestOf, makeApiKey } from "./api-key.ts";
import { openDoor } from "./first-start.ts";
import { createKeyRing } from "./key-ring.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 60_000);
afterAll(() => database?.stop());

const holderOf = (key: string) => createKeyRing(database.db).find({ digest: digestOf(key) });

it("makes one key at the first start, however many processes start, and none later", async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => openDoor(database.db, {})));
  const keys = made.filter((key) => key !== undefined);
  expect(keys).toHaveLength(1);
  expect(await holderOf(keys[0]!)).toMatchObject({ role: "owner", scopes: ["*", "tenants:*"] });
  expect(await openDoor(database.db, {})).toBeUndefined();
});

it("lets in the key of the settings for as long as it stands there, and no other that stood there before", async () => {
  const [first, second] = [makeApiKey(), makeApiKey()];
  expect(await openDoor(database.db, { GESSO_DEV_KEY: first })).toBeUndefined();
  expect(await holderOf(first)).toMatchObject({ user_id: "owner", scopes: ["*", "tenants:*"] });
  await openDoor(database.db, { GESSO_DEV_KEY: second });
  expect([await holderOf(first), (await holderOf(second))?.user_id]).toEqual([undefined, "owner"]);
  await openDoor(database.db, {});
  expect(await holderOf(second)).toBeUndefined();
});

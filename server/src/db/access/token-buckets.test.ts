// The shared token buckets in a real database: no time is counted twice, and none is lost.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { takeTokens } from "./token-buckets.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const BUCKET = { name: "test/requests", capacity: 1e9, perSecond: 1e6 };

test("a bucket grants as many tokens as the time is worth, however often it is asked", async () => {
  const state = async () => {
    const select = "select tokens, extract(epoch from filled_at)::float as at from token_buckets where bucket = $1";
    const [row] = await database.owner.query<{ tokens: number; at: number }>("test.state", select, [BUCKET.name]);
    return row!;
  };
  await takeTokens(database.db, BUCKET, { want: BUCKET.capacity, back: 0 });
  const before = await state();
  const [taken] = await database.owner.query<{ granted: number }>(
    "test.take",
    "select sum(granted)::float as granted from generate_series(1, 300) as n, take_tokens($1, $2, $3, 1000000 + 0 * n, 0)",
    [BUCKET.name, BUCKET.capacity, BUCKET.perSecond],
  );
  const after = await state();
  const worth = (after.at - before.at) * BUCKET.perSecond;
  expect(worth).toBeGreaterThan(3000);
  expect((taken!.granted + after.tokens - before.tokens) / worth).toBeCloseTo(1, 3);
});

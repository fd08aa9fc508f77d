// Slices of real buckets in a real database, several at once as several processes would hold them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { systemClock } from "../../test/support/test-runtime.ts";
import { type TokenBucket, takeTokens } from "../db/access/token-buckets.ts";
import { createLocalTokenBucket } from "./token-bucket.ts";

let database: TestDatabase;
let asked = 0;
beforeAll(async () => {
  database = await startTestDatabase();
}, 60_000);
afterAll(() => database?.stop());

let count = 0;
const bucketOf = (perMinute: number): TokenBucket => ({
  name: `test/${count++}`,
  capacity: perMinute,
  perSecond: perMinute / 60,
});
const sliceOf = (bucket: TokenBucket) =>
  createLocalTokenBucket(
    bucket,
    (of, amount) => {
      asked++;
      return takeTokens(database.db, of, amount);
    },
    systemClock,
  );
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a token bucket", () => {
  it("grants what it holds and no more, for any number of callers", async () => {
    const bucket = bucketOf(60);
    const slices = Array.from({ length: 4 }, () => sliceOf(bucket));
    const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => slices[n % 4]!.take()));
    const given = answers.filter(Boolean).length;
    expect(given).toBeGreaterThanOrEqual(60);
    expect(given).toBeLessThanOrEqual(62);
  });

  it("is refilled every second", async () => {
    const bucket = bucketOf(600);
    const slice = sliceOf(bucket);
    while (await slice.take());
    const { remaining, seconds } = slice.state();
    expect({ remaining, seconds }).toEqual({ remaining: 0, seconds: 1 });
    await pause(1000);
    expect(await slice.take()).toBe(true);
  });

  it("needs no database request for most tokens", async () => {
    const slice = sliceOf(bucketOf(600_000));
    for (let n = 0; n < 200; n++) await slice.take();
    asked = 0;
    for (let n = 0; n < 2000; n++) await slice.take();
    expect(asked).toBeLessThan(200);
  });

  it("does not query the database repeatedly while it is empty", async () => {
    const slice = sliceOf(bucketOf(60));
    while (await slice.take());
    asked = 0;
    for (let n = 0; n < 1000; n++) await slice.take();
    expect(asked).toBeLessThanOrEqual(3);
  });

  it("returns what one process does not use, so that another can", async () => {
    const bucket = bucketOf(60);
    const [busy, other] = [sliceOf(bucket), sliceOf(bucket)];
    for (let n = 0; n < 30; n++) await busy.take();
    await pause(1100);
    expect(await busy.returnIdleTokens()).toBe(true);
    let given = 0;
    while (await other.take()) given++;
    expect(given).toBeGreaterThanOrEqual(30);
    expect(given).toBeLessThanOrEqual(33);
  });

  it("accepts the return of unused tokens", async () => {
    const slice = sliceOf(bucketOf(2));
    expect([await slice.take(), await slice.take(), await slice.take()]).toEqual([true, true, false]);
    slice.refund();
    expect(await slice.take()).toBe(true);
  });

  it("reports what is left, and never less than zero", async () => {
    const slice = sliceOf(bucketOf(10));
    await slice.take();
    expect(slice.state()).toEqual({ remaining: 9, seconds: 6 });
    while (await slice.take()) expect(slice.state().remaining).toBeGreaterThanOrEqual(0);
  });
});

// Slices of real buckets in a real database, several at once as several processes would hold them.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { type TokenBucket, takeTokens } from "../../db/access/token-buckets.ts";
import type { Database } from "../../db/connect.ts";
import { createLocalTokenBucket, type TakeTokens } from "./token-bucket.ts";

let database: TestDatabase;
let db: Database;
let asked = 0;
const clock = createManualClock();
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
  db = connectOnClock(database, clock);
});
afterAll(async () => {
  await db?.close();
  await database?.stop();
});

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
      return takeTokens(db, of, amount);
    },
    clock,
  );

describe("a token bucket", () => {
  it("grants what it holds and no more, for any number of callers", async () => {
    const bucket = bucketOf(60);
    const slices = Array.from({ length: 4 }, () => sliceOf(bucket));
    const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => slices[n % 4]!.take()));
    expect(answers.filter(Boolean)).toHaveLength(60);
  });

  it("is refilled every second", async () => {
    const bucket = bucketOf(600);
    const slice = sliceOf(bucket);
    while (await slice.take());
    const { remaining, seconds } = slice.state();
    expect({ remaining, seconds }).toEqual({ remaining: 0, seconds: 1 });
    await clock.advance(1000);
    const answers: boolean[] = [];
    for (let n = 0; n < 11; n++) answers.push(await slice.take());
    expect(answers.filter(Boolean)).toHaveLength(10);
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
    expect(asked).toBe(0);
  });

  it("returns what one process does not use, so that another can", async () => {
    const bucket = bucketOf(60);
    const [busy, other] = [sliceOf(bucket), sliceOf(bucket)];
    for (let n = 0; n < 30; n++) await busy.take();
    await clock.advance(1100);
    expect(await busy.returnIdleTokens()).toBe(true);
    let given = 0;
    while (await other.take()) given++;
    // The 30 that are left, and one that was added meanwhile.
    expect(given).toBe(31);
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

describe("the local share of a token bucket", () => {
  /** A shared bucket whose requests are recorded, and whose grants the test decides. */
  const openShare = (perMinute: number, grant: (want: number) => { granted: number; remaining: number }) => {
    const clock = createManualClock(1000);
    const requests: { want: number; back: number }[] = [];
    const take: TakeTokens = async (_, amount) => {
      requests.push(amount);
      return grant(amount.want);
    };
    return { share: createLocalTokenBucket(bucketOf(perMinute), take, clock), clock, requests };
  };
  const full = (want: number) => ({ granted: want, remaining: 1000 });

  it("is one token at first, and the demand of 200 ms later", async () => {
    const { share, clock, requests } = openShare(60_000, full);
    await share.take();
    for (let n = 0; n < 999; n++) {
      clock.at += 1;
      await share.take();
    }
    expect(requests[0]).toEqual({ want: 1, back: 0 });
    // A thousand in a second: the demand of a second decays to about 632, whose fifth is 127.
    expect(requests.at(-1)!.want).toBeGreaterThan(90);
    expect(requests.at(-1)!.want).toBeLessThanOrEqual(127);
    clock.at += 60_000;
    const before = requests.length;
    while (requests.length === before) await share.take();
    expect(requests.at(-1)!.want).toBeLessThan(40);
  });

  it("is at most a tenth of the bucket, unless more requests wait", async () => {
    const { share, requests } = openShare(50, full);
    for (let n = 0; n < 200; n++) await share.take();
    expect(Math.max(...requests.map(({ want }) => want))).toBe(5);
    const busy = openShare(50, full);
    await Promise.all(Array.from({ length: 20 }, () => busy.share.take()));
    expect(busy.requests.map(({ want }) => want)).toEqual([1, 19]);
  });

  it("asks again after the time in which a token is refilled, and at least 100 ms", async () => {
    for (const [perMinute, remaining, wait] of [
      [60, 0.5, 500],
      [60_000, 0, 100],
    ] as const) {
      const { share, clock, requests } = openShare(perMinute, () => ({ granted: 0, remaining }));
      expect(await share.take()).toBe(false);
      clock.at += wait - 1;
      expect([await share.take(), requests.length]).toEqual([false, 1]);
      clock.at += 1;
      expect([await share.take(), requests.length]).toEqual([false, 2]);
    }
  });

  it("asks again if the request failed, and passes the failure on", async () => {
    const clock = createManualClock();
    let isDown = true;
    const take: TakeTokens = async () => {
      if (isDown) throw new Error("no database");
      return { granted: 1, remaining: 0 };
    };
    const share = createLocalTokenBucket(bucketOf(60), take, clock);
    await expect(share.take()).rejects.toThrow("no database");
    isDown = false;
    expect(await share.take()).toBe(true);
    expect(await share.take()).toBe(true);
  });

  it("states the tokens here and in the shared bucket, and when the bucket is full again", async () => {
    const { share } = openShare(60, () => ({ granted: 3, remaining: 7.5 }));
    expect(share.state()).toEqual({ remaining: 60, seconds: 0 });
    await share.take();
    expect(share.state()).toEqual({ remaining: 9, seconds: 51 });
    share.refund();
    expect(share.state()).toEqual({ remaining: 10, seconds: 50 });
  });

  it("states when the next token is there, while the bucket is empty and after", async () => {
    const { share, clock } = openShare(6, () => ({ granted: 0, remaining: 0.25 }));
    await share.take();
    expect(share.state()).toEqual({ remaining: 0, seconds: 8 });
    clock.at += 5000;
    expect(share.state()).toEqual({ remaining: 0, seconds: 3 });
    clock.at += 2400;
    expect(share.state()).toEqual({ remaining: 0, seconds: 1 });
    // The wait is over and nothing was asked since: the state of the last response holds.
    clock.at += 100;
    expect(share.state()).toEqual({ remaining: 0, seconds: 8 });
    share.refund();
    expect(share.state()).toEqual({ remaining: 1, seconds: 50 });
  });

  it("returns tokens that were not used for a second, all at once and once", async () => {
    let remaining = 50;
    const { share, clock, requests } = openShare(60, (want) => ({ granted: want && 4, remaining }));
    await share.take();
    clock.at += 999;
    expect(await share.returnIdleTokens()).toBe(false);
    clock.at += 1;
    remaining = 56;
    expect(await share.returnIdleTokens()).toBe(true);
    expect(requests).toEqual([
      { want: 1, back: 0 },
      { want: 0, back: 3 },
    ]);
    expect(share.state().remaining).toBe(56);
    expect(await share.returnIdleTokens()).toBe(true);
    expect(requests).toHaveLength(2);
  });

  it("returns nothing while tokens are requested, and keeps what was refunded meanwhile", async () => {
    const clock = createManualClock();
    const grants: ((grant: { granted: number; remaining: number }) => void)[] = [];
    const share = createLocalTokenBucket(bucketOf(60), () => new Promise((resolve) => grants.push(resolve)), clock);
    const taken = share.take();
    clock.at += 5000;
    expect(await share.returnIdleTokens()).toBe(false);
    grants[0]!({ granted: 2, remaining: 10 });
    expect(await taken).toBe(true);
    clock.at += 5000;
    const returned = share.returnIdleTokens();
    share.refund();
    grants[1]!({ granted: 0, remaining: 11 });
    expect(await returned).toBe(false);
    expect(share.state().remaining).toBe(12);
  });
});

import { expect, it } from "vitest";
import { createExpiringCache } from "./expiring-cache.ts";

it("remembers a missing value for a moment if the option is set, and looks it up again then", async () => {
  let now = 0;
  let lookups = 0;
  const lookUp = async () => {
    lookups++;
    return undefined;
  };
  const cache = createExpiringCache<string>({ now: () => now }, { isMissingCached: true });
  for (let n = 0; n < 5; n++) expect(await cache.get("a", lookUp)).toBeUndefined();
  expect([lookups, cache.has("a"), cache.has("b")]).toEqual([1, true, false]);
  now += 4001;
  expect(cache.has("a")).toBe(false);
  await cache.get("a", lookUp);
  expect(lookups).toBe(2);
  cache.clear();
  expect(cache.has("a")).toBe(false);
});

it("looks a missing value up each time otherwise", async () => {
  let lookups = 0;
  const cache = createExpiringCache<string>({ now: () => 0 });
  for (let n = 0; n < 3; n++)
    await cache.get("a", async () => {
      lookups++;
      return undefined;
    });
  expect([lookups, cache.has("a")]).toEqual([3, false]);
});

it("keeps found values while many missing ones are looked up", async () => {
  const cache = createExpiringCache<string>({ now: () => 0 }, { isMissingCached: true });
  await cache.get("found", async () => "value");
  for (let n = 0; n < 12_000; n++) await cache.get(`missing ${n}`, async () => undefined);
  expect(cache.has("found")).toBe(true);
});

it("shares one lookup between concurrent calls, and keeps a found value for 4 s from the start of its lookup", async () => {
  let now = 100_000;
  let lookups = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const lookUp = () => {
    lookups++;
    return promise;
  };
  const cache = createExpiringCache<string>({ now: () => now });
  const calls = [cache.get("a", lookUp), cache.get("a", lookUp)];
  expect(cache.has("a")).toBe(false);
  now += 3000;
  resolve("value");
  expect(await Promise.all(calls)).toEqual(["value", "value"]);
  now += 999;
  expect([await cache.get("a", lookUp), lookups, cache.has("a")]).toEqual(["value", 1, true]);
  now += 1;
  expect(cache.has("a")).toBe(false);
  await cache.get("a", lookUp);
  expect([lookups, cache.has("b")]).toEqual([2, false]);
});

it("does not keep a failed lookup", async () => {
  const cache = createExpiringCache<string>({ now: () => 0 }, { isMissingCached: true });
  await expect(cache.get("a", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  expect(cache.has("a")).toBe(false);
  expect(await cache.get("a", async () => "value")).toBe("value");
});

it("looks found and missing values up again once it is cleared", async () => {
  const cache = createExpiringCache<string>({ now: () => 0 }, { isMissingCached: true });
  await cache.get("found", async () => "value");
  await cache.get("missing", async () => undefined);
  expect([cache.has("found"), cache.has("missing")]).toEqual([true, true]);
  cache.clear();
  expect([cache.has("found"), cache.has("missing")]).toEqual([false, false]);
  expect(await cache.get("missing", async () => "created")).toBe("created");
});

it("does not remember a value as missing whose lookup was overtaken by a newer one", async () => {
  let now = 0;
  const cache = createExpiringCache<string>({ now: () => now }, { isMissingCached: true });
  const old = Promise.withResolvers<undefined>();
  const first = cache.get("a", () => old.promise);
  now += 4000;
  expect(await cache.get("a", async () => "value")).toBe("value");
  old.resolve(undefined);
  await first;
  expect(await cache.get("a", async () => "looked up again")).toBe("value");
});

it("evicts the oldest of 10,000 found and 1,000 missing values", async () => {
  const cache = createExpiringCache<string>({ now: () => 0 }, { isMissingCached: true });
  for (let n = 0; n <= 10_000; n++) await cache.get(`found ${n}`, async () => "value");
  for (let n = 0; n <= 1000; n++) await cache.get(`missing ${n}`, async () => undefined);
  const known = ["found 0", "found 1", "found 10000", "missing 0", "missing 1", "missing 1000"].map(cache.has);
  expect(known).toEqual([false, true, true, false, true, true]);
});

it("evicts by the last lookup: one that was looked up again is the newest", async () => {
  let now = 0;
  for (const [value, max] of [["value", 10_000] as const, [undefined, 1000] as const]) {
    const cache = createExpiringCache<string>({ now: () => now }, { isMissingCached: true });
    for (const name of ["first", "second"]) await cache.get(name, async () => value);
    now += 4000;
    for (const name of ["second", "first"]) await cache.get(name, async () => value);
    for (let n = 0; n < max - 1; n++) await cache.get(`other ${n}`, async () => value);
    expect([max, cache.has("first"), cache.has("second")]).toEqual([max, true, false]);
  }
});

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

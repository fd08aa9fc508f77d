import type { Key } from "@gesso/client";
import { expect, it } from "vitest";
import { describeLimits, describeScopes, describeState, findKeysBelow, isInForce } from "./key-facts.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const key = { revoked_at: null, expires_at: null, replaced_by: null, limits: {} } as unknown as Key;

it("says the scopes in words, and counts those that do not fit", () => {
  expect(describeScopes(["*"])).toBe("everything");
  expect(describeScopes(["images:write", "runs:read"])).toBe("images:write, runs:read");
  expect(describeScopes(["a:read", "b:read", "c:read", "d:read", "e:read"])).toBe("a:read, b:read, c:read, d:read +1");
});

it("says amounts first, and leaves out limits that do not apply", () => {
  const limits = { open_runs: 5, spend_per_month: 40, spend_per_hour: 2, streams: null };
  expect(describeLimits(limits)).toEqual(["$40.00 a month", "$2.00 an hour", "open runs: 5"]);
});

it("is in force until it is revoked or expires", () => {
  expect(describeState(key, NOW)).toBe("In force");
  expect(describeState({ ...key, revoked_at: "2026-11-16T11:00:00Z" }, NOW)).toBe("Revoked");
  expect(describeState({ ...key, expires_at: "2026-11-16T11:00:00Z" }, NOW)).toBe("Expired");
  const rotated = { ...key, expires_at: "2026-11-17T12:00:00Z", replaced_by: "x" };
  expect(describeState(rotated, NOW)).toMatch(/^Replaced, until 17 Nov/);
  expect([isInForce(key, NOW), isInForce(rotated, NOW)]).toEqual([true, true]);
  expect(isInForce({ ...key, expires_at: "2026-11-16T12:00:00Z" }, NOW)).toBe(false);
});

it("finds the keys that were created with a key, and with those, and no others", () => {
  const keyOf = (id: string, parent_key_id: string | null, own: Partial<Key> = {}) => ({
    ...{ ...key, id, parent_key_id },
    ...own,
  });
  const revoked = { revoked_at: "2026-11-16T11:00:00Z" };
  const keys = [
    keyOf("grandchild", "child"),
    keyOf("gone", "root", revoked),
    keyOf("below the gone", "gone"),
    keyOf("child", "root"),
    keyOf("other", "other root"),
    keyOf("sibling", null),
    keyOf("root", null),
  ];
  const namesBelow = (id: string) => findKeysBelow(keys, { id }, NOW).map((found) => found.id);
  expect(namesBelow("root")).toEqual(["grandchild", "below the gone", "child"]);
  expect(namesBelow("child")).toEqual(["grandchild"]);
  expect(namesBelow("grandchild")).toEqual([]);
  expect(namesBelow("other root")).toEqual(["other"]);
});

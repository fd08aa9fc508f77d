import { makeApiKey as makeKeyOfDev } from "@gesso/dev/parts";
import { describe, expect, it } from "vitest";
import { digestOf, hintOf, isApiKey, makeApiKey } from "./api-key.ts";

describe("an API key", () => {
  it("is of one form, here and where the development key is made", () => {
    const keys = Array.from({ length: 200 }, () => makeApiKey());
    expect(keys.every((key) => /^gsk_[0-9A-Za-z]{46}$/.test(key) && isApiKey(key))).toBe(true);
    expect(isApiKey(makeKeyOfDev())).toBe(true);
    expect(new Set(keys).size).toBe(200);
  });

  it("is known to be wrong with any one character changed", () => {
    const key = makeApiKey();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === "x" ? "y" : "x";
      expect(isApiKey(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toBe(false);
    }
  });

  it("is kept as a digest and four characters that are no part of its checksum", () => {
    const key = makeApiKey();
    expect(digestOf(key)).toHaveLength(32);
    expect(hintOf(key)).toBe(key.slice(40, 44));
  });
});

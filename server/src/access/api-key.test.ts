import { generateApiKey as makeKeyOfDev } from "@gesso/dev/components";
import { describe, expect, it } from "vitest";
import { apiKeyHint, generateApiKey, hashApiKey, hasValidApiKeySyntax } from "./api-key.ts";

describe("an API key", () => {
  it("has one form, here and where the development key is created", () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey());
    expect(keys.every((key) => /^gsk_[0-9A-Za-z]{46}$/.test(key) && hasValidApiKeySyntax(key))).toBe(true);
    expect(hasValidApiKeySyntax(makeKeyOfDev())).toBe(true);
    expect(new Set(keys).size).toBe(200);
  });

  it("is recognized as wrong if any one character is changed", () => {
    const key = generateApiKey();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === "x" ? "y" : "x";
      expect(hasValidApiKeySyntax(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toBe(false);
    }
  });

  it("is stored as a digest and four characters that are not part of its checksum", () => {
    const key = generateApiKey();
    expect(hashApiKey(key)).toHaveLength(32);
    expect(apiKeyHint(key)).toBe(key.slice(40, 44));
  });
});

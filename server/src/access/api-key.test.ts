import { crc32 } from "node:zlib";
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

  it("begins with the cell of its installation", () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey("b2"));
    expect(keys.every((key) => /^gsk_b2[0-9A-Za-z]{44}$/.test(key) && hasValidApiKeySyntax(key))).toBe(true);
    expect(new Set(keys).size).toBe(200);
  });

  it("is recognized as wrong if any one character is changed", () => {
    const key = generateApiKey();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === "x" ? "y" : "x";
      expect(hasValidApiKeySyntax(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toBe(false);
    }
  });

  it("is refused by its checksum in each of 100,000 wrong spellings", () => {
    let count = 0;
    const accepted: string[] = [];
    const check = (text: string) => {
      count++;
      if (hasValidApiKeySyntax(text)) accepted.push(text);
    };
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    while (count < 100_000) {
      const key = generateApiKey();
      for (let at = 4; at < key.length; at++)
        for (const digit of digits) if (digit !== key[at]) check(`${key.slice(0, at)}${digit}${key.slice(at + 1)}`);
      // Another key's checksum, and two characters that changed places.
      check(`${key.slice(0, -6)}${generateApiKey().slice(-6)}`);
      if (key[10] !== key[11]) check(`${key.slice(0, 10)}${key[11]}${key[10]}${key.slice(12)}`);
    }
    expect(accepted).toEqual([]);
  });

  it.each(["x", " ", "\n"])("is not part of a longer text: %j", (more) => {
    const key = generateApiKey();
    expect([hasValidApiKeySyntax(more + key), hasValidApiKeySyntax(key + more)]).toEqual([false, false]);
  });

  it("is refused with another prefix, length or alphabet although its checksum is right", () => {
    const withSum = (body: string) => {
      const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
      const crc = crc32(body);
      return body + Array.from({ length: 6 }, (_, n) => digits[Math.floor(crc / 62 ** (5 - n)) % 62]).join("");
    };
    const random = "a1".repeat(20);
    expect(hasValidApiKeySyntax(withSum(`gsk_${random}`))).toBe(true);
    for (const body of [
      `gsx_${random}`,
      `xgsk_${random}`,
      `gsk_${random}1`,
      `gsk_${random.slice(1)}`,
      `gsk_${random.slice(1)}-`,
    ])
      expect([body, hasValidApiKeySyntax(withSum(body))]).toEqual([body, false]);
  });

  it("uses every letter and digit", () => {
    const used = new Set(Array.from({ length: 400 }, () => generateApiKey().slice(4, 44)).join(""));
    expect(used.size).toBe(62);
  });

  it("is stored as a digest and four characters that are not part of its checksum", () => {
    const key = generateApiKey();
    expect(hashApiKey(key)).toHaveLength(32);
    expect(apiKeyHint(key)).toBe(key.slice(40, 44));
  });
});

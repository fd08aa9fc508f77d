import { expect, it } from "vitest";
import { generateApiKey, hasValidApiKeySyntax } from "./api-key.ts";

it("generates keys with a prefix, forty random characters and a checksum of both", () => {
  const key = generateApiKey();
  expect(key).toMatch(/^gsk_[0-9A-Za-z]{46}$/);
  expect(hasValidApiKeySyntax(key)).toBe(true);
  expect(generateApiKey()).not.toBe(key);
});

it("computes the checksum as the server does: CRC32 of the preceding characters, in digits 0-9A-Za-z", () => {
  expect(hasValidApiKeySyntax("gsk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd0ZK5L3")).toBe(true);
  expect(hasValidApiKeySyntax("gsk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd0ZK5L4")).toBe(false);
});

it("detects a typing error", () => {
  const key = generateApiKey();
  const wrong = key[10] === "a" ? "b" : "a";
  expect(hasValidApiKeySyntax(key.slice(0, 10) + wrong + key.slice(11))).toBe(false);
});

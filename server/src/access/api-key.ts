// The form of an API key: random, with a checksum that finds typing errors before anything is looked up. What is kept of a
// key is its digest.
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;
const HINT_CHARACTERS = 4;

export function generateApiKey(): string {
  const characters = Array.from({ length: RANDOM_CHARACTERS }, () => DIGITS[randomInt(DIGITS.length)]);
  const body = `gsk_${characters.join("")}`;
  return body + checksum(body);
}

export function hasValidApiKeySyntax(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_CHARACTERS);
  return /^gsk_[0-9A-Za-z]{40}$/.test(body) && key === body + checksum(body);
}

export const hashApiKey = (key: string): Buffer => createHash("sha256").update(key).digest();

/** Enough for people to tell their keys apart; of no use for guessing one. */
export const apiKeyHint = (key: string): string =>
  key.slice(-HINT_CHARACTERS - CHECKSUM_CHARACTERS, -CHECKSUM_CHARACTERS);

function checksum(text: string): string {
  let rest = crc32(text);
  let written = "";
  for (let place = 0; place < CHECKSUM_CHARACTERS; place++) {
    written = DIGITS[rest % DIGITS.length] + written;
    rest = Math.floor(rest / DIGITS.length);
  }
  return written;
}

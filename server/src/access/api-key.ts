// Format of API keys: random, with a checksum that detects typing errors before any lookup. Only the digest of a key is
// stored.
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;
const HINT_CHARACTERS = 4;

/** `cell`: the first of the characters, by which a router finds the installation of the key. */
export function generateApiKey(cell = ""): string {
  const length = KEY_CHARACTERS - cell.length;
  const characters = Array.from({ length }, () => DIGITS[randomInt(DIGITS.length)]);
  const body = `gsk_${cell}${characters.join("")}`;
  return body + checksum(body);
}

export function hasValidApiKeySyntax(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_CHARACTERS);
  return /^gsk_[0-9A-Za-z]{40}$/.test(body) && key === body + checksum(body);
}

export const hashApiKey = (key: string): Buffer => createHash("sha256").update(key).digest();

/** The last random characters, so that users can tell their keys apart. */
export const apiKeyHint = (key: string): string =>
  key.slice(-HINT_CHARACTERS - CHECKSUM_CHARACTERS, -CHECKSUM_CHARACTERS);

function checksum(text: string): string {
  let rest = crc32(text);
  let encoded = "";
  for (let digit = 0; digit < CHECKSUM_CHARACTERS; digit++) {
    encoded = DIGITS[rest % DIGITS.length] + encoded;
    rest = Math.floor(rest / DIGITS.length);
  }
  return encoded;
}

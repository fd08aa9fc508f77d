// Generates API keys in the server's format: random characters and a checksum that detects typing errors offline.
import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;

export function generateApiKey(): string {
  const characters = Array.from({ length: RANDOM_CHARACTERS }, () => DIGITS[randomInt(DIGITS.length)]);
  const body = `gsk_${characters.join("")}`;
  return body + checksum(body);
}

export function hasValidApiKeySyntax(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_CHARACTERS);
  return /^gsk_[0-9A-Za-z]{40}$/.test(body) && key === body + checksum(body);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let index = 0; index < CHECKSUM_CHARACTERS; index++) {
    digits = DIGITS[rest % DIGITS.length] + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}

// Syntax check of a JWT before verification. The header may only hold alg, kid, typ, x5t and x5t#S256, each once and as
// a plain string: no embedded keys and no key URLs. Anything else is refused before a key is fetched.
import { Fault } from "../../faults/faults.ts";

const MAX_CHARACTERS = 8192;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const HEADER = /^\s*\{\s*(?:"[^"\\]*"\s*:\s*"[^"\\]*"\s*,\s*)*"[^"\\]*"\s*:\s*"[^"\\]*"\s*\}\s*$/;
const PAIR = /"([^"\\]*)"\s*:\s*"([^"\\]*)"/g;
/** Certificate thumbprints are allowed and ignored: the key is selected by `kid`. */
const ALLOWED_HEADER_FIELDS = ["alg", "kid", "typ", "x5t", "x5t#S256"];

export type TokenHeader = { alg: string; kid?: string; typ?: string };

/** Tokens, including malformed and encrypted ones, are distinguished from API keys by their dots. */
export const looksLikeJwt = (text: string): boolean => /^[^.]*(\.[^.]*){2,4}$/.test(text);

export function parseUnverifiedToken(token: string): { header: TokenHeader; issuer: string } {
  if (token.length > MAX_CHARACTERS || !COMPACT.test(token)) throw new Fault("invalid_token");
  const [header = "", payload = ""] = token.split(".");
  return { header: readHeader(decoded(header)), issuer: readIssuer(decoded(payload)) };
}

const decoded = (part: string) => Buffer.from(part, "base64url").toString();

function readHeader(text: string): TokenHeader {
  const pairs = HEADER.test(text) ? [...text.matchAll(PAIR)].map(([, name, value]) => [name!, value!] as const) : [];
  const names = pairs.map(([name]) => name);
  const isPlain = names.every((name, at) => ALLOWED_HEADER_FIELDS.includes(name) && names.indexOf(name) === at);
  if (!isPlain || !names.includes("alg")) throw new Fault("invalid_token");
  return Object.fromEntries(pairs) as TokenHeader;
}

/** Reads the `iss` claim, which is not verified yet. */
function readIssuer(text: string): string {
  try {
    const { iss } = JSON.parse(text) as { iss?: unknown };
    if (typeof iss === "string") return iss;
  } catch (thrown) {
    throw new Fault("invalid_token", {}, { cause: thrown });
  }
  throw new Fault("invalid_token");
}

// What identifies the request of a client: its path and fields, with the digests of its files. Two requests with equal
// content can be one that the client sent twice.
import { createHash } from "node:crypto";
import { isFilePart } from "../../contract/files.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";

/** Longer texts, such as images in base64, are replaced by their digest. */
const MAX_TEXT = 1024;

export const contentOf = (endpoint: string, raw: JsonObject): JsonObject => ({ endpoint, body: digest(raw) });

/** The name of a file is left out: some clients make a new one for each request. */
function digest(value: unknown): unknown {
  if (isFilePart(value)) return { sha256: value.sha256 };
  if (typeof value === "string")
    return value.length > MAX_TEXT ? { sha256: createHash("sha256").update(value).digest("hex") } : value;
  if (Array.isArray(value)) return value.map(digest);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, digest(each)]));
}

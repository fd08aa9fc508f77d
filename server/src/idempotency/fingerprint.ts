// The fingerprint of a request: two requests with the same idempotency key are the same request if their fingerprints
// are equal. The order of fields has no influence.
import { createHash } from "node:crypto";
import { isFilePart } from "../contract/files.ts";

/** `sync` is not part of the fingerprint, because it only changes the response. */
export function fingerprintRequest(operation: string, input: Readonly<Record<string, unknown>>): Buffer {
  const { sync: _sync, ...rest } = input;
  return createHash("sha256")
    .update(`${operation} ${canonicalJson(rest)}`)
    .digest();
}

/**
 * JSON with sorted fields. Of an uploaded file, `path` is left out: it is a temporary file, which differs between
 * requests with the same content.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const isUpload = isFilePart(value);
  const entries = Object.entries(value).filter(
    ([field, each]) => each !== undefined && !(isUpload && field === "path"),
  );
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, each]) => `${JSON.stringify(field)}:${canonicalJson(each)}`)
    .join(",")}}`;
}

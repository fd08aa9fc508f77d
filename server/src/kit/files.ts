// A file of a multipart form. Only the form parser creates file parts, so a JSON body can never imitate one.
import { z } from "zod";

/** `path` is a temporary file with the bytes, removed after the request; `sha256` is the hash of these bytes. */
export type FilePart = { path: string; filename: string; size_bytes: number; sha256: string };

const fileParts = new WeakSet<object>();

export function createFilePart(part: FilePart): FilePart {
  const frozen = Object.freeze({ ...part });
  fileParts.add(frozen);
  return frozen;
}

export const isFilePart = (value: unknown): value is FilePart =>
  typeof value === "object" && value !== null && fileParts.has(value);

/** Metadata of a field that exists only in forms. */
export const FORM_ONLY = { "x-body": "form" } as const;

export const fileField = (description: string) =>
  z
    .custom<FilePart>(isFilePart, { params: { code: "invalid_type" }, error: "Must be a file in a multipart form." })
    .describe(description)
    .meta({ type: "string", format: "binary", "x-widget": "file", ...FORM_ONLY });

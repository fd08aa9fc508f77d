// A file that came with a form. Only the reader of forms can make one, so a JSON body can never pass for a file.
import { z } from "zod";

/** The bytes lie in a temporary file until the operation keeps them; `sha256` is of those bytes. */
export type FilePart = { path: string; filename: string; size_bytes: number; sha256: string };

const made = new WeakSet<object>();

export function createFilePart(part: FilePart): FilePart {
  const frozen = Object.freeze({ ...part });
  made.add(frozen);
  return frozen;
}

export const isFilePart = (value: unknown): value is FilePart =>
  typeof value === "object" && value !== null && made.has(value);

/** A field that a JSON body does not have. */
export const FORM_ONLY = { "x-body": "form" } as const;

export const fileField = (says: string) =>
  z
    .custom<FilePart>(isFilePart, { params: { code: "invalid_type" }, error: "Must be a file in a multipart form." })
    .describe(says)
    .meta({ type: "string", format: "binary", "x-widget": "file", ...FORM_ONLY });

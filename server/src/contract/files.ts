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

/** Replaces inline images and files in the input once they are stored. Runs show it in `inputs`. */
export const STORED_ASSET = /^asset:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const FILE_METADATA = { type: "string", format: "binary", "x-widget": "file", ...FORM_ONLY } as const;
const FILE_REFUSAL = { params: { code: "invalid_type" }, error: "Must be a file in a multipart form." };

/** A file to store as an upload. */
export const fileField = (description: string) =>
  z.custom<FilePart>(isFilePart, FILE_REFUSAL).describe(description).meta(FILE_METADATA);

/** A file as the source of a run. When the request is repeated, the field refers to the stored file. */
export const sourceFileField = (description: string) =>
  z
    .custom<FilePart | string>(
      (value) => isFilePart(value) || (typeof value === "string" && STORED_ASSET.test(value)),
      FILE_REFUSAL,
    )
    .describe(description)
    .meta(FILE_METADATA);

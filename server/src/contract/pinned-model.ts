// A model of a provider whose schema was imported, and how files are found and replaced in its inputs and results.
// Pure: the same value and the same fields give the same files in the same order, and no value is changed in place.
import { splitPointer } from "./json-pointer.ts";
import type { JsonObject } from "./schemas/run.ts";

export type MediaKind = "image" | "video" | "audio" | "model" | "archive" | "weights" | "text" | "file";

/** `pointer`: a JSON pointer in which `*` stands for every element of a list or every value of a map. */
export type MediaField = { pointer: string; kind: MediaKind };

export type FilePath = (string | number)[];
export type FoundFile = { path: FilePath; value: unknown; kind: MediaKind };

export type PinnedModel = {
  /** `<provider>:<upstream>`, such as `fal:fal-ai/veo3.1/fast` or `replicate:owner/name`. */
  model: string;
  provider: string;
  /** The path that the adapter posts to, such as `fal-ai/veo3.1/fast`. */
  upstream: string;
  /** Replicate's version ID. null for providers without versions, such as fal. */
  version: string | null;
  /** SHA-256 in hex over what the input and the output are validated by. Texts, examples and order do not change it. */
  hash: string;
  /** JSON Schema 2020-12. Objects are closed unless the provider allows more fields explicitly. */
  input: JsonObject;
  /** JSON Schema 2020-12 of the provider's raw result, which is not always an object. */
  output: JsonObject;
  /** The fields with files. Their pointers are relative to the input and to the provider's raw result. */
  media: { input: MediaField[]; output: MediaField[] };
  /** The fields of the input in the order for forms. */
  order: string[];
  title: string | null;
  /** What the provider calls the kind of the model, such as `image-to-video`. */
  category: string | null;
};

/**
 * The files at the given fields, in the order of the fields. A file is a text that is not empty, or a reference to a
 * file of a run: an object with `run_id`. Anything else at such a field is no file and is left out.
 */
export function findFiles(root: unknown, fields: readonly MediaField[]): FoundFile[] {
  const found = new Map<string, FoundFile>();
  for (const { pointer, kind } of fields) {
    for (const { path, value } of findValues(root, splitPointer(pointer))) {
      const key = JSON.stringify(path);
      if (isFile(value) && !found.has(key)) found.set(key, { path, value, kind });
    }
  }
  return [...found.values()];
}

/** A copy of `root` in which the value at `path` is replaced. A path that is not in `root` changes nothing. */
export const replaceAt = (root: JsonObject, path: FilePath, value: unknown): JsonObject =>
  replaceIn(root, path, value) as JsonObject;

const WILDCARD = "*";

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Own properties only: an input can have fields that are called like members of every object. */
const isReference = (value: unknown): boolean =>
  isObject(value) && Object.hasOwn(value, "run_id") && typeof value.run_id === "string";

const isFile = (value: unknown): boolean => (typeof value === "string" ? value !== "" : isReference(value));

function findValues(root: unknown, parts: readonly string[]): { path: FilePath; value: unknown }[] {
  let found: { path: FilePath; value: unknown }[] = [{ path: [], value: root }];
  for (const part of parts) found = found.flatMap((each) => listChildren(each, part));
  return found;
}

function listChildren({ path, value }: { path: FilePath; value: unknown }, part: string) {
  const child = (key: string | number, each: unknown) => ({ path: [...path, key], value: each });
  if (Array.isArray(value)) return part === WILDCARD ? value.map((each, index) => child(index, each)) : [];
  // The ID in a reference is no file of a map, where a list or a map of files was expected.
  if (!isObject(value) || (part === WILDCARD && isReference(value))) return [];
  if (part === WILDCARD) return Object.entries(value).map(([key, each]) => child(key, each));
  return Object.hasOwn(value, part) ? [child(part, value[part])] : [];
}

function replaceIn(at: unknown, [key, ...rest]: FilePath, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(at)) return at.map((each, index) => (index === key ? replaceIn(each, rest, value) : each));
  if (!isObject(at) || !Object.hasOwn(at, key)) return at;
  // Computed keys define a property: `__proto__` becomes one and never sets the prototype.
  return { ...at, [key]: replaceIn(at[key], rest, value) };
}

// What an operation makes of an input, without a server: its jobs, or its complaints.
import type { Fault, Issue } from "../src/faults.ts";
import { filePart, isFilePart } from "../src/kit/files.ts";
import { keptAs } from "../src/kit/images.ts";
import type { Body, Job, Operation } from "../src/kit/operation.ts";
import { parseInput } from "../src/kit/parse.ts";
import type { Json } from "../src/kit/shapes.ts";

export const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
export const PARENT = "01990c3e-2f00-7000-8000-aaaaaaaaaaaa";
export const FILE = "01990c3e-2f00-7000-8000-ffffffffffff";
export const URL_A = "https://example.com/a.png";
export const URL_B = "https://example.com/b.png";

/** A file of a form; in a plan it is the asset of that id. */
export const fileOf = (assetId = FILE) =>
  filePart({ path: "/nowhere", filename: assetId, size_bytes: 1, sha256: "0".repeat(64) });

/** Files are kept before a plan is made, and stand in the input by name. */
const staged = (value: unknown): unknown => {
  if (isFilePart(value)) return keptAs(value.filename);
  if (Array.isArray(value)) return value.map(staged);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, staged(each)]));
};

export function read(operation: Operation, raw: Json, body: Body = "json") {
  const parsed = parseInput(operation, raw, body);
  return { input: staged(parsed.input) as Json, given: staged(parsed.given) as Json };
}

export function planOf(operation: Operation, raw: Json, body: Body = "json"): Job[] {
  const { input, given } = read(operation, raw, body);
  return operation.plan!(input, given);
}

export const parentOf = (operation: Operation, raw: Json, body: Body = "json") =>
  operation.parent?.(read(operation, raw, body).input);

/** Every warning that the run would carry. */
export function warningsOf(operation: Operation, raw: Json, body: Body = "json"): string[] {
  const { input, given } = read(operation, raw, body);
  return [
    ...(operation.unused?.(input, given) ?? []),
    ...(operation.adapted?.(input, given) ?? []).map(({ field }) => field),
    ...(operation.notes?.(input, given) ?? []),
  ];
}

/** Each complaint as `/path code`. */
export function complaintsOf(operation: Operation, raw: Json, body: Body = "json"): string[] {
  try {
    parseInput(operation, raw, body);
  } catch (thrown) {
    return ((thrown as Fault).details.errors as Issue[]).map(({ path, code }) => `${path} ${code}`);
  }
  return [];
}

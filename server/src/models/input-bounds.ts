// Bounds of the input of an imported model, judged before anything else reads it: what a validator does with an input
// takes a time that is proportional to its size.

import { escapePointer } from "../contract/json-pointer.ts";
import type { FoundFile } from "../contract/pinned-model.ts";
import type { ValidationIssue } from "../faults/faults.ts";
import { MAX_INPUT_LEVELS } from "./schema-bounds.ts";

const MAX_BYTES = 1_048_576;
const MAX_ELEMENTS = 1_000;
/** Lists of lists: every value can give an error for every form that it can have. */
const MAX_VALUES = 50_000;

/** The first bound that the input breaks. Works without recursion: an input can have any number of levels. */
export function findSizeIssue(input: unknown): ValidationIssue | undefined {
  let level: { value: unknown; path: string }[] = [{ value: input, path: "/input" }];
  let values = 0;
  for (let levels = 0; level.length > 0; levels++) {
    if (levels > MAX_INPUT_LEVELS) return outOfRange(`The input must have at most ${MAX_INPUT_LEVELS} levels.`);
    const next: typeof level = [];
    for (const { value, path } of level) {
      if (typeof value !== "object" || value === null) continue;
      if (Array.isArray(value) && value.length > MAX_ELEMENTS) {
        return { path, code: "too_many_items", message: `Must have at most ${MAX_ELEMENTS} items.` };
      }
      const entries = Object.entries(value);
      values += entries.length;
      if (values > MAX_VALUES) return outOfRange(`The input must have at most ${MAX_VALUES} values.`);
      for (const [key, each] of entries) next.push({ value: each, path: `${path}/${escapePointer(key)}` });
    }
    level = next;
  }
  return undefined;
}

const outOfRange = (message: string): ValidationIssue => ({ path: "/input", code: "out_of_range", message });

/** Files do not count: they are stored, and do not go to the provider as a part of the input. */
export function findBytesIssue(input: unknown, files: readonly FoundFile[]): ValidationIssue | undefined {
  const ofFiles = files.reduce((sum, { value }) => sum + countBytes(value), 0);
  if (countBytes(input) - ofFiles <= MAX_BYTES) return undefined;
  return { path: "/input", code: "too_long", message: "The input must have at most 1 MB without its files." };
}

/** The input has a bounded number of levels. */
const countBytes = (value: unknown): number => {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let sum = 2;
  for (const [key, each] of Object.entries(value)) {
    sum += countBytes(each) + 1 + (Array.isArray(value) ? 0 : Buffer.byteLength(key) + 3);
  }
  return sum;
};

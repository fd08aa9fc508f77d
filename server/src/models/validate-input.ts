// Judges the input of an imported model by the provider's own schema. A field with a file is judged as if it had a
// URL, so that every form of a file fits: a URL, base64, an upload, a run. The input is never changed, and defaults
// are not filled in: the provider's own apply.
import type { ValidateFunction } from "ajv/dist/2020.js";
import { escapePointer } from "../contract/json-pointer.ts";
import { type FoundFile, findFiles, type PinnedModel } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import type { ValidationIssue } from "../faults/faults.ts";
import { compileValidator } from "./compile-validator.ts";
import { describeErrors, type PartValidators } from "./describe-errors.ts";
import { findBytesIssue, findSizeIssue } from "./input-bounds.ts";

export type InputValidator = { findIssues: (model: PinnedModel, input: JsonObject) => ValidationIssue[] };

type Compiled = { validate: ValidateFunction; parts: PartValidators };

/** Real schemas take about 10 kB each. */
const DEFAULT_CAPACITY = 500;

/** Keeps the validators of the `capacity` schemas that were used last. */
export function createInputValidator({ capacity = DEFAULT_CAPACITY }: { capacity?: number } = {}): InputValidator {
  // A map lists its keys in the order in which they were set: the first one was not used for the longest time.
  const kept = new Map<string, Compiled>();

  const findCompiled = ({ hash, input }: PinnedModel): Compiled => {
    const known = kept.get(hash);
    const compiled = known ?? { validate: compileValidator(input), parts: createPartValidators(input) };
    kept.delete(hash);
    kept.set(hash, compiled);
    const [oldest] = kept.keys();
    if (kept.size > capacity && oldest !== undefined) kept.delete(oldest);
    return compiled;
  };

  return {
    findIssues(model, input) {
      const tooLarge = findSizeIssue(input);
      if (tooLarge) return [tooLarge];
      const files = findFiles(input, model.media.input);
      const tooLong = findBytesIssue(input, files);
      if (tooLong) return [tooLong];
      const { validate, parts } = findCompiled(model);
      const projected = projectFiles(input, files);
      if (validate(projected)) return [];
      const isFile = new Set(files.map(({ path }) => path.map((part) => `/${escapePointer(String(part))}`).join("")));
      const issues = describeErrors(validate.errors ?? [], parts, isFile);
      return issues.map((issue) => ({ ...issue, path: `/input${issue.path}` }));
    },
  };
}

/**
 * Validators of the alternatives of a schema, compiled when an input fits none of them and its errors are explained.
 */
function createPartValidators(root: JsonObject): PartValidators {
  const compiled = new WeakMap<object, ValidateFunction>();
  return {
    root,
    find(part) {
      const known = compiled.get(part);
      const validate = known ?? compileValidator({ ...part, $defs: root.$defs ?? {} });
      compiled.set(part, validate);
      return validate;
    },
  };
}

/** Every file gets a URL of its own: two files are never the same element of a list. */
function projectFiles(input: JsonObject, files: readonly FoundFile[]): JsonObject {
  const projected = copy(input) as JsonObject;
  for (const [index, { path }] of files.entries()) {
    const holder = path.slice(0, -1).reduce<unknown>((value, key) => (value as JsonObject)[key], projected);
    (holder as JsonObject)[path.at(-1)!] = `https://files.invalid/${index}`;
  }
  return projected;
}

/** The input has a bounded number of levels. Entries become own fields, also those with the name `__proto__`. */
const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]));
};

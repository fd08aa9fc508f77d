// Validation errors by the field that they belong to. Errors of the client and of the server have the same form: a JSON
// pointer and a sentence.
import { type FieldError, ValidationError } from "@gesso/client";
import type { FormValues } from "./form-values.ts";

/** Errors of a form: the first word of the pointer is the field, the rest is the place within it. */
export type FieldErrors = ReadonlyMap<string, readonly FieldError[]>;

export const NO_ERRORS: FieldErrors = new Map();

const unescapeWord = (word: string) => word.replaceAll("~1", "/").replaceAll("~0", "~");

/** `/images/0/tag` is ["images", "0", "tag"]. */
export const parsePointer = (pointer: string): string[] => pointer.split("/").slice(1).map(unescapeWord);

export function groupFieldErrors(errors: readonly FieldError[]): FieldErrors {
  return Map.groupBy(errors, ({ path }) => parsePointer(path)[0] ?? "");
}

/** The errors of one item of a list, or of one field of it, as errors of their own: `/0/tag` is `/tag`. */
export const errorsWithin = (errors: readonly FieldError[], field: string): FieldError[] =>
  errors.flatMap((error) => {
    const [, first, ...rest] = parsePointer(error.path);
    return first === field ? [{ ...error, path: `/${[first, ...rest].join("/")}` }] : [];
  });

/** The errors of fields that an error of a request has; none if the request failed for another reason. */
export const fieldErrorsOf = (error: unknown): FieldErrors =>
  ValidationError.isInstance(error) ? groupFieldErrors(error.fieldErrors) : NO_ERRORS;

/** The errors of fields that have the same value as when the request was sent, also of fields within a group. */
export function withoutChanged(errors: FieldErrors, before: FormValues, after: FormValues): FieldErrors {
  if (errors.size === 0) return errors;
  const kept = [...errors.values()]
    .flat()
    .filter(({ path }) => path === "" || isSamePlace(before, after, parsePointer(path)));
  return groupFieldErrors(kept);
}

/** Whether the values are the same, or the parts of them that an error is about. */
function isSamePlace(before: unknown, after: unknown, place: readonly string[]): boolean {
  if (before === after) return true;
  const [name, ...rest] = place;
  if (name === undefined || !isGroup(before) || !isGroup(after)) return false;
  return isSamePlace(before[name], after[name], rest);
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The first field with an error, in the order of the form. */
export const firstInvalidField = (errors: FieldErrors, names: readonly string[]): string | undefined =>
  names.find((name) => errors.has(name));

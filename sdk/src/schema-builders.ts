// The words in which the printed client says what an operation takes. They make plain data, so that the check before
// sending and the search for pictures read one and the same thing.
import type { Schema } from "./validation.ts";

export const uuid: Schema = { type: "string", format: "uuid" };
export const boolean: Schema = { type: "boolean" };
export const object: Schema = { type: "object" };
/** A picture by its address. */
export const imageUrl: Schema = { is: "image" };
/** A picture by its address, as base64 or as a run. */
export const imageInput: Schema = { is: "inline" };
/** Bytes; only a form carries them. */
export const file: Schema = { is: "file", form: true };

export const text = (minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = ""): Schema => ({
  type: "string",
  minLength,
  maxLength,
  pattern,
});
export const matching = (pattern: string): Schema => ({ type: "string", pattern });
export const integer = (minimum: number, maximum: number): Schema => ({ type: "integer", minimum, maximum });
export const number = (minimum: number, maximum: number): Schema => ({ type: "number", minimum, maximum });
export const enumOf = (...known: unknown[]): Schema => ({ type: "string", enum: known });
export const arrayOf = (items: Schema, minItems: number, maxItems: number): Schema => ({
  type: "array",
  items,
  minItems,
  maxItems,
});

/** Between fields: these must be there; at least one; exactly one; all or none; or a rule that holds for one value. */
export const allRequired = (...required: string[]): Schema => ({ required });
export const anyRequired = (...fields: string[]): Schema => ({ anyOf: fields.map((field) => allRequired(field)) });
export const exactlyOneRequired = (...fields: string[]): Schema => ({
  oneOf: fields.map((field) => allRequired(field)),
});
export const allOrNone = (...fields: string[]): Schema => ({
  dependentRequired: Object.fromEntries(fields.map((field) => [field, fields.filter((other) => other !== field)])),
});
export const ifEquals = (field: string, value: unknown, then: Schema): Schema => ({
  if: { properties: { [field]: { const: value } } },
  then,
});

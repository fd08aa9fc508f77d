// Builders for the schemas in the generated client. They return plain data, which both the validation and the search
// for image fields read.
import type { Schema } from "./validation.ts";

export const uuid: Schema = { type: "string", format: "uuid" };
export const boolean: Schema = { type: "boolean" };
export const object: Schema = { type: "object" };
/** An image as a URL. */
export const imageUrl: Schema = { sourceKind: "image" };
/** An image as a URL, base64 or a run ID. */
export const imageInput: Schema = { sourceKind: "inline" };
/** Bytes; only in a form. */
export const file: Schema = { sourceKind: "file", form: true };

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

/** Rules between fields: all required, at least one, exactly one, all or none, or a rule for one value of a field. */
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

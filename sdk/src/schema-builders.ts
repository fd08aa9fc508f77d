// Builders for the schemas in the generated client. They return plain data, which both the validation and the search
// for image fields read.
import type { Schema } from "./validation.ts";

export const uuid: Schema = { type: "string", format: "uuid" };
export const boolean: Schema = { type: "boolean" };
const nothing: Schema = { type: "null" };
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
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, nothing] });
export const enumOf = (...known: unknown[]): Schema => ({ type: "string", enum: known });
export const arrayOf = (items: Schema, minItems: number, maxItems: number): Schema => ({
  type: "array",
  items,
  minItems,
  maxItems,
});

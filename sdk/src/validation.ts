// Validates a request before it is sent, against the schema of the contract: required fields, types and bounds, and the
// rules between fields that the operation has. The messages equal those of the server.
import type { FieldError } from "./errors.ts";

/** The subset of JSON Schema that the contract uses. `sourceKind` marks the fields that hold images. */
export type Schema = {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  /** `file`: bytes only. `image`: a URL. `inline`: a URL, base64 or a run ID. */
  sourceKind?: "file" | "image" | "inline";
  /** Only in the form variant of the operation. */
  form?: true;
};

export type Fields = Record<string, unknown>;

/** `condition` is appended to messages of rules that only sometimes apply. */
export type FieldRule = (input: Fields, condition?: string) => FieldError[];

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

export const REQUIRED_MESSAGE = "This field is required.";

/** Returns all validation errors of an input, at most one for each field. */
export function validateInput(schema: Schema, input: Fields, rules: readonly FieldRule[]): FieldError[] {
  const found = [...checkObject(schema, input, ""), ...rules.flatMap((rule) => rule(input))];
  return found.filter((each, index) => found.findIndex(({ path }) => path === each.path) === index);
}

export function checkObject({ required = [], properties = {} }: Schema, input: Fields, path: string): FieldError[] {
  const absent = required.filter((field) => input[field] === undefined);
  return [
    ...absent.map((field) => fieldError(`${path}/${field}`, "required", REQUIRED_MESSAGE)),
    ...Object.entries(properties).flatMap(([field, own]) =>
      input[field] === undefined ? [] : checkValue(own, input[field], `${path}/${field}`),
    ),
  ];
}

export const fieldError = (path: string, code: string, message: string): FieldError => ({ path, code, message });

function checkValue(schema: Schema, given: unknown, path: string): FieldError[] {
  if (schema.sourceKind && typeof given !== "string") return [];
  if (schema.anyOf) {
    const tries = schema.anyOf.map((each) => checkValue(each, given, path));
    return tries.some((each) => each.length === 0) ? [] : (tries[0] ?? []);
  }
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOfType(type, given))) {
    return [fieldError(path, "invalid_type", `Must be ${types.map((type) => TYPE_NAMES[type] ?? type).join(" or ")}.`)];
  }
  const allowed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (allowed && !allowed.includes(given)) {
    return [fieldError(path, "unknown_value", `Must be one of ${allowed.join(", ")}.`)];
  }
  if (typeof given === "number") return checkNumber(schema, given, path);
  if (typeof given === "string") return checkText(schema, given, path);
  if (Array.isArray(given)) return checkArray(schema, given, path);
  return schema.properties && given !== null ? checkObject(schema, given as Fields, path) : [];
}

function isOfType(type: string, given: unknown): boolean {
  if (type === "array") return Array.isArray(given);
  if (type === "null") return given === null;
  if (type === "integer") return Number.isInteger(given);
  if (type === "number") return typeof given === "number" && Number.isFinite(given);
  if (type === "object") return typeof given === "object" && given !== null && !Array.isArray(given);
  return typeof given === type;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

function checkNumber({ minimum, maximum }: Schema, given: number, path: string): FieldError[] {
  if (minimum !== undefined && given < minimum)
    return [fieldError(path, "out_of_range", `Must be at least ${minimum}.`)];
  if (maximum !== undefined && given > maximum)
    return [fieldError(path, "out_of_range", `Must be at most ${maximum}.`)];
  return [];
}

function checkText(schema: Schema, given: string, path: string): FieldError[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format, pattern } = schema;
  if (given.length < minLength)
    return [fieldError(path, "out_of_range", `Must have at least ${minLength} characters.`)];
  if (given.length > maxLength && [...given].length > maxLength) {
    return [fieldError(path, "too_long", `Must have at most ${maxLength} characters.`)];
  }
  if (format === "uuid") return UUID.test(given) ? [] : [fieldError(path, "invalid_uuid", "Must be a UUID.")];
  if (pattern && !new RegExp(pattern, "u").test(given)) {
    return [fieldError(path, "unknown_value", `Must match ${pattern}.`)];
  }
  return [];
}

const countOfItems = (count: number) => `${count} item${count === 1 ? "" : "s"}`;

function checkArray(schema: Schema, given: unknown[], path: string): FieldError[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (given.length < minItems)
    return [fieldError(path, "too_few_items", `Must have at least ${countOfItems(minItems)}.`)];
  if (given.length > maxItems)
    return [fieldError(path, "too_many_items", `Must have at most ${countOfItems(maxItems)}.`)];
  return items ? given.flatMap((each, index) => checkValue(items, each, `${path}/${index}`)) : [];
}

// Validates a request before it is sent, against the schema of the contract: required fields, types, bounds and rules
// between fields. The messages equal those of the server.
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
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  dependentRequired?: Readonly<Record<string, readonly string[]>>;
  if?: Schema;
  then?: Schema;
  allOf?: readonly Schema[];
  /** `file`: bytes only. `image`: a URL. `inline`: a URL, base64 or a run ID. */
  sourceKind?: "file" | "image" | "inline";
  /** Only in the form variant of the operation. */
  form?: true;
};

type Fields = Record<string, unknown>;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const isGiven = (value: unknown) => value !== undefined && value !== null;

/** Returns all validation errors of an input, at most one for each field. */
export function validateInput(schema: Schema, input: Fields, rules: readonly Schema[] = []): FieldError[] {
  const own = rules.filter((rule) => !isItemCountRule(schema, rule));
  const found = [...checkObject(schema, input, ""), ...own.flatMap((rule) => checkFieldRule(rule, input))];
  return found.filter((each, index) => found.findIndex(({ path }) => path === each.path) === index);
}

/** A rule on the total length of several lists cannot be expressed in the schema; the server checks it. */
const isItemCountRule = ({ properties = {} }: Schema, { then, anyOf = then?.anyOf }: Schema): boolean =>
  anyOf?.every(({ required = [] }) => properties[required[0] ?? ""]?.type === "array") ?? false;

function checkObject({ required = [], properties = {} }: Schema, input: Fields, path: string): FieldError[] {
  const absent = required.filter((field) => input[field] === undefined);
  return [
    ...absent.map((field) => fieldError(`${path}/${field}`, "required", "This field is required.")),
    ...Object.entries(properties).flatMap(([field, own]) =>
      input[field] === undefined ? [] : checkValue(own, input[field], `${path}/${field}`),
    ),
  ];
}

const fieldError = (path: string, code: string, message: string): FieldError => ({ path, code, message });

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
  if (pattern && !new RegExp(pattern).test(given)) {
    return [fieldError(path, "unknown_value", `Must match ${pattern}.`)];
  }
  return [];
}

function checkArray(schema: Schema, given: unknown[], path: string): FieldError[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (given.length < minItems)
    return [fieldError(path, "too_few_items", `Must have at least ${minItems} ${minItems === 1 ? "item" : "items"}.`)];
  if (given.length > maxItems)
    return [fieldError(path, "too_many_items", `Must have at most ${maxItems} ${maxItems === 1 ? "item" : "items"}.`)];
  return items ? given.flatMap((each, index) => checkValue(items, each, `${path}/${index}`)) : [];
}

/** Error codes of missing fields that have their own; for all others the code is `required`. */
const MISSING_FIELD_CODES: Readonly<Record<string, string>> = {
  aspect_ratio: "aspect_ratio_required",
  model_id: "model_id_required",
  lora_low_name: "lora_pair_required",
  lora_high_name: "lora_pair_required",
};

/** Checks a rule between fields; `condition` is appended to messages of rules that only sometimes apply. */
function checkFieldRule(rule: Schema, input: Fields, condition = ""): FieldError[] {
  if (rule.if && rule.then) {
    const [[field, only] = ["", {}]] = Object.entries(rule.if.properties ?? {});
    return input[field] === only.const ? checkFieldRule(rule.then, input, ` when ${field} is ${only.const}`) : [];
  }
  const choices = (rule.oneOf ?? rule.anyOf)?.map((each) => each.required?.[0] ?? "");
  if (choices) return checkChoice(choices, input, rule.oneOf ? "exactly" : "at least");
  const { required = [], dependentRequired = {}, properties } = rule;
  const allOrNone = `Send all of ${Object.keys(dependentRequired).join(", ")}, or none of them.`;
  const absent = (fields: readonly string[], messageFor: (field: string) => string) =>
    missingFields(fields, input).map((field) =>
      fieldError(`/${field}`, MISSING_FIELD_CODES[field] ?? "required", messageFor(field)),
    );
  return [
    ...absent(required, (field) => (condition ? `${field} is required${condition}.` : "This field is required.")),
    ...Object.entries(dependentRequired).flatMap(([field, others]) =>
      isGiven(input[field]) ? absent(others, () => allOrNone) : [],
    ),
    ...(properties ? checkObject({ properties: chosenByCaller(properties) }, input, "") : []).map((each) => ({
      ...each,
      message: each.message.replace(/\.$/, `${condition}.`),
    })),
  ];
}

/** Constants are skipped: the server rejects other values of them as an unsupported parameter. */
const chosenByCaller = (properties: Readonly<Record<string, Schema>>) =>
  Object.fromEntries(Object.entries(properties).filter(([, own]) => own.const === undefined));

const missingFields = (fields: readonly string[], input: Fields) => fields.filter((field) => !isGiven(input[field]));

function checkChoice(fields: string[], input: Fields, howMany: "exactly" | "at least"): FieldError[] {
  const count = fields.length - missingFields(fields, input).length;
  if (howMany === "exactly" ? count === 1 : count > 0) return [];
  const code = howMany === "exactly" ? "exactly_one_of" : "at_least_one_of";
  return [fieldError(`/${fields[0]}`, code, `Send ${howMany} one of ${fields.join(", ")}.`)];
}

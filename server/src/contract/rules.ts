// Rules between fields, as data: the validator runs `check`, JSON Schema carries `schema`, and the documentation shows
// `description`. Rules check the fields that the caller sent, so one response reports field errors and rule errors.
import type { ValidationIssue } from "../faults/faults.ts";
import type { JsonObject } from "./schemas/run.ts";

/** `body`: the rule applies only to this kind of body. Without it, the rule applies to both. */
export type FieldRule = {
  description: string;
  check(input: JsonObject): ValidationIssue[];
  schema: JsonObject;
  body?: "json" | "form";
};

const isProvided = (input: JsonObject) => (field: string) => input[field] !== undefined && input[field] !== null;
const requiredEach = (fields: readonly string[]) => fields.map((field) => ({ required: [field] }));
const ifEquals = (field: string, value: string) => ({ properties: { [field]: { const: value } }, required: [field] });
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** Error codes for missing fields that have a code of their own. The code of all others is `required`. */
const MISSING_FIELD_CODES: Record<string, string> = {
  aspect_ratio: "aspect_ratio_required",
  model_id: "model_id_required",
  lora_low_name: "lora_pair_required",
  lora_high_name: "lora_pair_required",
};

export const exactlyOne = (...fields: string[]): FieldRule => {
  const description = `Send exactly one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) =>
      fields.filter(isProvided(input)).length === 1
        ? []
        : [{ path: `/${fields[0]}`, code: "exactly_one_of", message: description }],
    schema: { oneOf: requiredEach(fields) },
  };
};

export const atLeastOne = (...fields: string[]): FieldRule => {
  const description = `Send at least one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) =>
      fields.some(isProvided(input)) ? [] : [{ path: `/${fields[0]}`, code: "at_least_one_of", message: description }],
    schema: { anyOf: requiredEach(fields) },
  };
};

/** JSON Schema has no short form for it, so the contract has only the description. */
export const atMostOne = (...fields: string[]): FieldRule => {
  const description = `Send at most one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) => {
      const [, second] = fields.filter(isProvided(input));
      return second === undefined ? [] : [{ path: `/${second}`, code: "at_most_one_of", message: description }];
    },
    schema: {},
  };
};

/** For updates, where null is a value: it removes the field. */
export const atLeastOneChange = (...fields: string[]): FieldRule => {
  const description = `Send at least one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) =>
      fields.some((field) => input[field] !== undefined)
        ? []
        : [{ path: `/${fields[0]}`, code: "at_least_one_of", message: description }],
    schema: { anyOf: fields.map((field) => ({ required: [field] })) },
  };
};

export const required = (...fields: string[]): FieldRule => ({
  description: `Send ${fields.join(" and ")}.`,
  check: (input) =>
    fields
      .filter((field) => !isProvided(input)(field))
      .map((field) => ({ path: `/${field}`, code: "required", message: "This field is required." })),
  schema: { required: fields },
});

export const onlyInJson = (rule: FieldRule): FieldRule => ({
  ...rule,
  description: `JSON body: ${rule.description}`,
  body: "json",
});
export const onlyInForm = (rule: FieldRule): FieldRule => ({
  ...rule,
  description: `Form: ${rule.description}`,
  body: "form",
});

/** For two names of the same field: both can be sent, but not with different values. */
export const equalIfBoth = (field: string, other: string): FieldRule => {
  const description = `${field} and ${other} are the same field. Send one of them, or the same value in both.`;
  return {
    description,
    check: (input) =>
      isProvided(input)(field) && isProvided(input)(other) && input[field] !== input[other]
        ? [{ path: `/${field}`, code: "exactly_one_of", message: description }]
        : [],
    schema: {},
  };
};

/** Bounds the total length of several lists. JSON Schema cannot add, so its rule only requires one of the lists. */
export const totalItemsBetween = (lists: readonly string[], [min, max]: [number, number]): FieldRule => {
  const description = `${lists.join(", ")} must have ${min} to ${max} items in total.`;
  return {
    description,
    check: (input) => {
      const sum = lists.reduce((count, list) => count + lengthOf(input[list]), 0);
      return sum >= min && sum <= max
        ? []
        : [{ path: `/${lists[0]}`, code: itemsCode(sum, min), message: description }];
    },
    schema: { anyOf: requiredEach(lists) },
  };
};

/** The lists together. JSON Schema cannot add, so the contract has only the description. */
export const totalItemsAtMost = (lists: readonly string[], max: number): FieldRule => {
  const description = `${lists.join(" and ")} must have at most ${max} items in total.`;
  return {
    description,
    check: (input) =>
      lists.reduce((count, list) => count + lengthOf(input[list]), 0) <= max
        ? []
        : [{ path: `/${lists[0]}`, code: "too_many_items", message: description }],
    schema: {},
  };
};

export const allOrNone = (code: string, ...fields: string[]): FieldRule => {
  const description = `Send all of ${fields.join(", ")}, or none of them.`;
  return {
    description,
    check: (input) => {
      const absent = fields.filter((field) => !isProvided(input)(field));
      const some = absent.length > 0 && absent.length < fields.length;
      return some ? absent.map((field) => ({ path: `/${field}`, code, message: description })) : [];
    },
    schema: { dependentRequired: Object.fromEntries(fields.map((each) => [each, fields.filter((f) => f !== each)])) },
  };
};

export const requiredWhen = (field: string, value: string, fields: readonly string[]): FieldRule => ({
  description: `${fields.join(", ")} ${fields.length === 1 ? "is" : "are"} required when ${field} is ${value}.`,
  check: (input) =>
    input[field] !== value
      ? []
      : fields
          .filter((each) => !isProvided(input)(each))
          .map((each) => ({
            path: `/${each}`,
            code: MISSING_FIELD_CODES[each] ?? "required",
            message: `${each} is required when ${field} is ${value}.`,
          })),
  schema: { if: ifEquals(field, value), then: { required: fields } },
});

export const valuesWhen = (field: string, value: string, other: string, values: readonly string[]): FieldRule => {
  const description = `${other} must be one of ${values.join(", ")} when ${field} is ${value}.`;
  return {
    description,
    check: (input) =>
      input[field] !== value || !isProvided(input)(other) || values.includes(String(input[other]))
        ? []
        : [{ path: `/${other}`, code: "unknown_value", message: description }],
    schema: { if: ifEquals(field, value), then: { properties: { [other]: { enum: values } } } },
  };
};

/** The model has a fixed value for the field; any other value is refused. */
export const fixedWhen = (field: string, value: string, other: string, fixed: number): FieldRule => {
  const description = `${other} is always ${fixed} when ${field} is ${value}.`;
  return {
    description,
    check: (input) =>
      input[field] !== value || !isProvided(input)(other) || input[other] === fixed
        ? []
        : [{ path: `/${other}`, code: "unsupported_parameter", message: description }],
    schema: { if: ifEquals(field, value), then: { properties: { [other]: { const: fixed } } } },
  };
};

/** Bounds the length of each of the lists that the caller sends. */
export const itemsBetweenWhen = (
  field: string,
  value: string,
  lists: readonly string[],
  bounds: [number, number],
): FieldRule => {
  const [min, max] = bounds;
  const description = `${lists.join(" and ")} must have ${min} to ${max} items each when ${field} is ${value}.`;
  const isWithinBounds = (list: unknown) => lengthOf(list) >= min && lengthOf(list) <= max;
  return {
    description,
    check: (input) =>
      input[field] !== value
        ? []
        : lists
            .filter((list) => Array.isArray(input[list]) && !isWithinBounds(input[list]))
            .map((list) => ({ path: `/${list}`, code: itemsCode(lengthOf(input[list]), min), message: description })),
    schema: {
      if: ifEquals(field, value),
      then: { properties: Object.fromEntries(lists.map((list) => [list, { minItems: min, maxItems: max }])) },
    },
  };
};

/** `totalItemsBetween`, for one model only. */
export const totalItemsBetweenWhen = (
  field: string,
  value: string,
  lists: readonly string[],
  bounds: [number, number],
): FieldRule => {
  const rule = totalItemsBetween(lists, bounds);
  return {
    description: `When ${field} is ${value}: ${rule.description}`,
    check: (input) => (input[field] === value ? rule.check(input) : []),
    schema: { if: ifEquals(field, value), then: rule.schema },
  };
};

const itemsCode = (length: number, min: number) => (length < min ? "too_few_items" : "too_many_items");

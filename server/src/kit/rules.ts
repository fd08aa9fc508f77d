// Rules between fields, as data: the validator runs `check`, JSON Schema carries `schema`, people and agents read `says`.
// They run on what the caller sent, beside the field checks, so that every misfit is told at once.
import type { ValidationIssue } from "../faults.ts";
import type { JsonObject } from "./schemas/run.ts";

/** `body`: the rule holds only for requests of this kind, where an operation takes both. */
export type FieldRule = {
  description: string;
  check(input: JsonObject): ValidationIssue[];
  schema: JsonObject;
  body?: "json" | "form";
};

const given = (input: JsonObject) => (field: string) => input[field] !== undefined && input[field] !== null;
const requiredEach = (fields: readonly string[]) => fields.map((field) => ({ required: [field] }));
const when = (field: string, value: string) => ({ properties: { [field]: { const: value } }, required: [field] });
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** Fields whose absence has a word of its own; all others are plainly `required`. */
const MISSING_FIELD_CODES: Record<string, string> = {
  aspect_ratio: "aspect_ratio_required",
  model_id: "model_id_required",
  lora_low_name: "lora_pair_required",
  lora_high_name: "lora_pair_required",
};

export const exactlyOne = (...fields: string[]): FieldRule => {
  const description = `Give exactly one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) =>
      fields.filter(given(input)).length === 1
        ? []
        : [{ path: `/${fields[0]}`, code: "exactly_one_of", message: description }],
    schema: { oneOf: requiredEach(fields) },
  };
};

export const atLeastOne = (...fields: string[]): FieldRule => {
  const description = `Give at least one of ${fields.join(", ")}.`;
  return {
    description,
    check: (input) =>
      fields.some(given(input)) ? [] : [{ path: `/${fields[0]}`, code: "at_least_one_of", message: description }],
    schema: { anyOf: requiredEach(fields) },
  };
};

/** For changes, where null is a value of its own: it takes something away. */
export const atLeastOneChange = (...fields: string[]): FieldRule => {
  const description = `Give at least one of ${fields.join(", ")}.`;
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
  description: `Give ${fields.join(" and ")}.`,
  check: (input) =>
    fields
      .filter((field) => !given(input)(field))
      .map((field) => ({ path: `/${field}`, code: "required", message: "This field is required." })),
  schema: { required: fields },
});

export const onlyInJson = (rule: FieldRule): FieldRule => ({
  ...rule,
  description: `In JSON: ${rule.description}`,
  body: "json",
});
export const onlyInForm = (rule: FieldRule): FieldRule => ({
  ...rule,
  description: `In a form: ${rule.description}`,
  body: "form",
});

/** Two names of one thing may both be given, but not with different values. */
export const equalIfBoth = (field: string, other: string): FieldRule => {
  const description = `${field} and ${other} are the same field. Send one of them, or the same value in both.`;
  return {
    description,
    check: (input) =>
      given(input)(field) && given(input)(other) && input[field] !== input[other]
        ? [{ path: `/${field}`, code: "exactly_one_of", message: description }]
        : [],
    schema: {},
  };
};

/** How many entries these lists have in all. JSON Schema cannot add, so it only hears that one of them is needed. */
export const totalItemsBetween = (lists: readonly string[], [least, most]: [number, number]): FieldRule => {
  const description = `${lists.join(", ")} must have ${least} to ${most} items in total.`;
  return {
    description,
    check: (input) => {
      const sum = lists.reduce((count, list) => count + lengthOf(input[list]), 0);
      return sum >= least && sum <= most
        ? []
        : [{ path: `/${lists[0]}`, code: itemsCode(sum, least), message: description }];
    },
    schema: { anyOf: requiredEach(lists) },
  };
};

export const allOrNone = (code: string, ...fields: string[]): FieldRule => {
  const description = `Send all of ${fields.join(", ")}, or none of them.`;
  return {
    description,
    check: (input) => {
      const absent = fields.filter((field) => !given(input)(field));
      const some = absent.length > 0 && absent.length < fields.length;
      return some ? absent.map((field) => ({ path: `/${field}`, code, message: description })) : [];
    },
    schema: { dependentRequired: Object.fromEntries(fields.map((each) => [each, fields.filter((f) => f !== each)])) },
  };
};

export const requiredWhen = (field: string, value: string, fields: readonly string[]): FieldRule => ({
  description: `${fields.join(", ")} required when ${field} is ${value}.`,
  check: (input) =>
    input[field] !== value
      ? []
      : fields
          .filter((each) => !given(input)(each))
          .map((each) => ({
            path: `/${each}`,
            code: MISSING_FIELD_CODES[each] ?? "required",
            message: `${each} is required when ${field} is ${value}.`,
          })),
  schema: { if: when(field, value), then: { required: fields } },
});

export const valuesWhen = (field: string, value: string, other: string, values: readonly string[]): FieldRule => {
  const description = `${other} is one of ${values.join(", ")} when ${field} is ${value}.`;
  return {
    description,
    check: (input) =>
      input[field] !== value || !given(input)(other) || values.includes(String(input[other]))
        ? []
        : [{ path: `/${other}`, code: "unknown_value", message: description }],
    schema: { if: when(field, value), then: { properties: { [other]: { enum: values } } } },
  };
};

/** The service sets this value for the model; another one from the caller cannot be honoured. */
export const fixedWhen = (field: string, value: string, other: string, fixed: number): FieldRule => {
  const description = `${other} is always ${fixed} when ${field} is ${value}.`;
  return {
    description,
    check: (input) =>
      input[field] !== value || !given(input)(other) || input[other] === fixed
        ? []
        : [{ path: `/${other}`, code: "unsupported_parameter", message: description }],
    schema: { if: when(field, value), then: { properties: { [other]: { const: fixed } } } },
  };
};

/** How many entries each of these lists has, where it is given. */
export const itemsBetweenWhen = (
  field: string,
  value: string,
  lists: readonly string[],
  bounds: [number, number],
): FieldRule => {
  const [least, most] = bounds;
  const description = `${lists.join(" and ")} must have ${least} to ${most} items each when ${field} is ${value}.`;
  const fits = (list: unknown) => lengthOf(list) >= least && lengthOf(list) <= most;
  return {
    description,
    check: (input) =>
      input[field] !== value
        ? []
        : lists
            .filter((list) => Array.isArray(input[list]) && !fits(input[list]))
            .map((list) => ({ path: `/${list}`, code: itemsCode(lengthOf(input[list]), least), message: description })),
    schema: {
      if: when(field, value),
      then: { properties: Object.fromEntries(lists.map((list) => [list, { minItems: least, maxItems: most }])) },
    },
  };
};

/** The same, for one model only. */
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
    schema: { if: when(field, value), then: rule.schema },
  };
};

const itemsCode = (length: number, least: number) => (length < least ? "too_few_items" : "too_many_items");

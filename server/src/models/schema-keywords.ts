// The keywords of JSON Schema that an imported schema keeps, and which values each may have. A keyword that is not in
// the list is dropped; one with another value is refused, because the compiler of validators trusts what it gets.
import { isObject } from "./schema-parts.ts";

const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];

const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = (value: unknown): boolean => Array.isArray(value);
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isAnything = (): boolean => true;

/** Shown in forms and in the help; values are not judged by them. */
const ANNOTATIONS: Record<string, (value: unknown) => boolean> = {
  title: isText,
  description: isText,
  examples: isList,
  deprecated: isFlag,
  ui: isObject,
  _fal_ui_field: isText,
  "x-order": isNumber,
  "x-cog-array-type": isText,
  "x-cog-array-display": isText,
};

const VALUE_KEYWORDS: Record<string, (value: unknown) => boolean> = {
  type: (value) =>
    Array.isArray(value)
      ? value.length > 0 && new Set(value).size === value.length && value.every((each) => TYPES.includes(each))
      : TYPES.includes(value as string),
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: isAnything,
  default: isAnything,
  format: isText,
  pattern: isText,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: isFlag,
  required: isTextList,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isTextList),
};

export const isAnnotation = (keyword: string): boolean => Object.hasOwn(ANNOTATIONS, keyword);

/** Keywords that hold a value, not schemas. */
export const isKept = (keyword: string): boolean =>
  Object.hasOwn(ANNOTATIONS, keyword) || Object.hasOwn(VALUE_KEYWORDS, keyword);

/** Whether a kept keyword may have the value. */
export const isValidKeyword = (keyword: string, value: unknown): boolean =>
  (isAnnotation(keyword) ? ANNOTATIONS : VALUE_KEYWORDS)[keyword]!(value);

export const SCHEMA_KEYWORDS = [
  ...["items", "contains", "propertyNames", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"],
  ...["not", "if", "then", "else"],
];
export const SCHEMA_LIST_KEYWORDS = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const SCHEMA_MAP_KEYWORDS = ["properties", "patternProperties", "dependentSchemas"];

/**
 * They give a schema a second address, or choose the schema by the path that led to it: its bounds cannot be judged.
 */
export const REFUSED_KEYWORDS = [
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveAnchor",
  "$recursiveRef",
];

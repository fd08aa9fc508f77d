// How a normalized JSON Schema is taken apart: the schemas inside a schema, and what its references lead to.
// Definitions are reached by references only, so they are no parts of the schema that holds them.
import { splitPointer } from "../contract/json-pointer.ts";
import type { JsonObject } from "../contract/schemas/run.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords whose schemas judge the same value as the schema that has them. */
const SAME_VALUE = {
  lists: ["allOf", "anyOf", "oneOf"],
  single: ["not", "if", "then", "else"],
  maps: ["dependentSchemas"],
};
/** Keywords whose schemas judge a field, an element or a name of the value. */
const INNER_VALUE = {
  lists: ["prefixItems"],
  single: ["items", "contains", "propertyNames", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"],
  maps: ["properties", "patternProperties"],
};

const collect = (schema: JsonObject, { lists, single, maps }: typeof SAME_VALUE): JsonObject[] =>
  [
    ...lists.flatMap((key) => (schema[key] as unknown[] | undefined) ?? []),
    ...single.map((key) => schema[key]),
    ...maps.flatMap((key) => Object.values((schema[key] as JsonObject | undefined) ?? {})),
  ].filter(isObject);

export const listSameValueParts = (schema: JsonObject): JsonObject[] => collect(schema, SAME_VALUE);
export const listInnerParts = (schema: JsonObject): JsonObject[] => collect(schema, INNER_VALUE);

/** What a JSON pointer such as `#/$defs/Image` leads to. Own properties only. */
export function findByReference(document: unknown, reference: string): unknown {
  let found = document;
  for (const part of splitPointer(reference)) {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, part);
    if (!isThere) return undefined;
    found = (found as JsonObject)[part];
  }
  return found;
}

/** The definition that a normalized schema refers to. Undefined for a schema without a reference. */
export function findDefinition(root: JsonObject, schema: JsonObject): JsonObject | undefined {
  const found = typeof schema.$ref === "string" ? findByReference(root, schema.$ref) : undefined;
  return isObject(found) ? found : undefined;
}

/** The fields that a value can have by this schema, with those of its alternatives, parts and references. */
export function listFieldNames(root: JsonObject, schema: JsonObject, seen = new Set<JsonObject>()): string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const own = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const target = findDefinition(root, schema);
  const parts = [...listSameValueParts(schema), ...(target ? [target] : [])];
  return [...new Set([...own, ...parts.flatMap((part) => listFieldNames(root, part, seen))])];
}

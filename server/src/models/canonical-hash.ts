// The hash of a model's schemas: it changes if an input could be judged differently or another default would apply.
// Texts, examples and the order of fields and values do not change it.
import { createHash } from "node:crypto";
import { isAnnotation } from "./schema-keywords.ts";
import { isObject } from "./schema-parts.ts";

export const hashSchemas = (...schemas: unknown[]): string =>
  createHash("sha256")
    .update(JSON.stringify(schemas.map((schema) => canonicalSchema(schema))))
    .digest("hex");

/** Keywords whose value is a map of names to schemas: these names are no keywords. */
const MAPS = ["properties", "patternProperties", "dependentSchemas", "$defs"];
/** Keywords whose values are data of the provider, which can look like a schema. */
const DATA = ["default", "const", "dependentRequired"];
/** Lists whose order has no meaning. */
const SETS = ["required", "enum", "type"];

function canonicalSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => canonicalSchema(each));
  if (!isObject(schema)) return schema;
  return sortFields(schema, (keyword, value) => {
    if (isAnnotation(keyword)) return undefined;
    if (MAPS.includes(keyword) && isObject(value)) return sortFields(value, (_, each) => canonicalSchema(each));
    if (SETS.includes(keyword)) return sortValues([value].flat());
    return DATA.includes(keyword) ? canonicalData(value) : canonicalSchema(value);
  });
}

/** A list of pairs, because objects put names that are numbers first. Pairs without a value are left out. */
const sortFields = (schema: object, read: (key: string, value: unknown) => unknown): unknown[] =>
  Object.entries(schema)
    .map(([key, value]) => [key, read(key, value)] as const)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

const sortValues = (values: unknown[]): string[] => values.map((value) => JSON.stringify(canonicalData(value))).sort();

const canonicalData = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonicalData);
  return isObject(value) ? sortFields(value, (_, each) => canonicalData(each)) : value;
};

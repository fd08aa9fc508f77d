// Reads one place of a model's JSON Schema: references and the alternative `null` are resolved, so that what is left is
// a value of one kind or a choice between kinds.
export type JsonSchema = {
  $ref?: string;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  examples?: readonly unknown[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  items?: JsonSchema | boolean;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | boolean;
  deprecated?: boolean;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  format?: string;
  $defs?: Readonly<Record<string, JsonSchema>>;
};

/** A reference to a reference to …: more are a circle. */
const MAX_STEPS = 16;
const DEFINITION = /^#\/\$defs\/(.+)$/;

/** What stands beside a reference, such as a description, counts more than what the definition says. */
export function resolveSchema(schema: JsonSchema, root: JsonSchema, steps = 0): JsonSchema {
  if (steps > MAX_STEPS) return {};
  const { $ref, ...beside } = schema;
  if ($ref !== undefined) {
    const definition = root.$defs?.[definitionName($ref)] ?? {};
    return resolveSchema({ ...definition, ...beside }, root, steps + 1);
  }
  const only = singlePart(beside);
  if (!only) return withoutNullType(beside);
  const { anyOf: _, oneOf: __, allOf: ___, ...outer } = beside;
  return resolveSchema({ ...only, ...outer }, root, steps + 1);
}

const definitionName = (reference: string) =>
  decodeURIComponent(DEFINITION.exec(reference)?.[1] ?? "")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");

const isNull = ({ type, enum: values, const: only }: JsonSchema) =>
  type === "null" || only === null || (values?.length === 1 && values[0] === null);

/** The alternatives that are more than "nothing". */
export const alternativesOf = ({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] =>
  (anyOf ?? oneOf ?? []).filter((each) => !isNull(each));

/** The only form that a value can have, where the schema writes it as one of one. */
function singlePart(schema: JsonSchema): JsonSchema | undefined {
  const parts = schema.allOf ?? alternativesOf(schema);
  return parts.length === 1 ? parts[0] : undefined;
}

function withoutNullType(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === "string" || schema.type === undefined) return schema;
  const types = schema.type.filter((type) => type !== "null");
  return { ...schema, type: types.length === 1 ? types[0]! : types };
}

/** The only values that are allowed; undefined if there are others. */
export function valuesOf({ enum: values, const: only }: JsonSchema): readonly unknown[] | undefined {
  if (only !== undefined) return [only];
  const known = values?.filter((value) => value !== null);
  return known?.every((value) => typeof value !== "object") ? known : undefined;
}

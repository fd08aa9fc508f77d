// The fields of an imported model's input, from its JSON Schema, as the fields of an operation are described. Pure.
import type { ImportedModel } from "@gesso/client";
import type { OperationField } from "../operations.ts";

export type ModelField = OperationField & {
  /** The kind of file that the field or its elements are. */
  file?: string;
  /** The file is the `url` of an object. */
  isUrlObject?: boolean;
  /** Besides its choices or texts, the field takes an object or a list. */
  takesJson?: boolean;
};

type Schema = Record<string, unknown>;
type Described = Pick<ImportedModel, "input" | "order" | "files">;

const MAX_DEPTH = 8;
const PART_KEYWORDS = ["allOf", "anyOf", "oneOf"];

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (schema: Schema, keyword: string): Schema[] =>
  Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]).filter(isObject) : [];

/** In the order for forms. */
export function listModelFields(model: Described): ModelField[] {
  const properties = new Map<string, Schema>();
  const required = new Set<string>();
  collect(model.input, { root: model.input, properties, required, depth: 0 });
  const names = [...model.order.filter((name) => properties.has(name)), ...properties.keys()];
  return [...new Set(names)].map((name) =>
    describeField(name, { schema: properties.get(name)!, isRequired: required.has(name), model }),
  );
}

type Collected = { root: Schema; properties: Map<string, Schema>; required: Set<string>; depth: number };

/** The fields of an object with those of its parts. Only what all forms demand is required. */
function collect(schema: Schema, { root, properties, required, depth }: Collected, isAlternative = false): void {
  if (depth > MAX_DEPTH) return;
  for (const [name, field] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    if (!properties.has(name)) properties.set(name, isObject(field) ? field : {});
  if (!isAlternative && Array.isArray(schema.required)) for (const name of schema.required) required.add(String(name));
  const next = { root, properties, required, depth: depth + 1 };
  const target = findDefinition(root, schema);
  if (target) collect(target, next, isAlternative);
  for (const keyword of PART_KEYWORDS)
    for (const part of listOf(schema, keyword)) collect(part, next, isAlternative || keyword !== "allOf");
}

function findDefinition(root: Schema, { $ref }: Schema): Schema | undefined {
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of $ref.slice(2).split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

type FieldSource = { schema: Schema; isRequired: boolean; model: Described };

function describeField(name: string, { schema, isRequired, model }: FieldSource): ModelField {
  const forms = listForms(model.input, schema);
  const pointerOf = (path: string) =>
    model.files.input.find(({ pointer }) => pointer === `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}${path}`);
  const list = forms.find((form) => typesOf(form).includes("array"));
  const elements = list && isObject(list.items) ? listForms(model.input, list.items) : [];
  const single = forms.filter((form) => form !== list);
  const isList = list !== undefined && single.every((form) => typesOf(form).includes("null"));
  const files = isList ? [pointerOf("/*"), pointerOf("/*/url")] : [pointerOf(""), pointerOf("/url")];
  const file = (files[0] ?? files[1])?.kind;
  const value = describeValue(isList ? elements : single);
  const texts = [schema, ...forms].find(({ description }) => typeof description === "string");
  const byDefault = [schema, ...forms].find((form) => form.default !== undefined)?.default;
  return {
    name,
    ...value,
    ...(file !== undefined && { type: "image", file, ...(!files[0] && { isUrlObject: true }) }),
    ...(texts && { description: String(texts.description) }),
    ...(isRequired && { isRequired }),
    ...(isList && { isList }),
    ...(forms.some((form) => typesOf(form).includes("null")) && { isNullable: true }),
    ...(!isList && list !== undefined && { takesJson: true }),
    ...(byDefault !== undefined && byDefault !== null && { default: byDefault }),
  };
}

/** The schemas of which a value fits one: references and alternatives are resolved, parts are joined. */
function listForms(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > MAX_DEPTH) return [];
  const { $ref: _ref, anyOf: _any, oneOf: _one, allOf: _all, ...own } = schema;
  const target = findDefinition(root, schema);
  const alternatives = [...listOf(schema, "anyOf"), ...listOf(schema, "oneOf"), ...(target ? [target] : [])];
  const found = alternatives.flatMap((each) => listForms(root, each, depth + 1));
  const parts = listOf(schema, "allOf").flatMap((each) => listForms(root, each, depth + 1));
  if (found.length > 0) return found.map((each) => ({ ...own, ...each }));
  return [Object.assign({}, ...parts, own)];
}

const typesOf = ({ type, properties, enum: values }: Schema): string[] => {
  if (type !== undefined) return [type].flat().map(String);
  if (isObject(properties)) return ["object"];
  return Array.isArray(values) ? [...new Set(values.map((each) => typeof each))] : [];
};

type Value = Pick<ModelField, "type" | "options" | "isOpen" | "minimum" | "maximum" | "takesJson">;

function describeValue(forms: Schema[]): Value {
  const options = forms.flatMap(choicesOf);
  const types = [...new Set(forms.filter((form) => choicesOf(form).length === 0).flatMap(typesOf))];
  const others = types.filter((each) => each !== "null");
  const takesJson = others.some((each) => each === "object" || each === "array");
  if (options.length > 0)
    return { type: "choice", options, ...(others.length > 0 && { isOpen: true }), ...(takesJson && { takesJson }) };
  if (others.length === 0 || others.every((each) => each === "object" || each === "array")) return { type: "object" };
  if (others.length > 1) return rangeOf(forms, isNumeric(others) ? "number" : "text", !isNumeric(others));
  const [only] = others;
  if (only === "integer" || only === "number") return rangeOf(forms, only);
  return { type: only === "boolean" ? "boolean" : "text" };
}

const isNumeric = (types: string[]) => types.every((each) => each === "integer" || each === "number");

function rangeOf(forms: Schema[], type: "integer" | "number" | "text", takesJson = false): Value {
  const numbers = (keyword: string) => forms.map((form) => form[keyword]).filter((each) => typeof each === "number");
  const [minimum] = numbers("minimum");
  const [maximum] = numbers("maximum");
  return {
    type,
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(takesJson && { takesJson }),
  };
}

const isChoice = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

const choicesOf = (form: Schema): (string | number)[] => {
  if (Array.isArray(form.enum)) return form.enum.filter(isChoice);
  return isChoice(form.const) ? [form.const] : [];
};

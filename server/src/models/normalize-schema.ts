// Turns a schema of an OpenAPI document into a JSON Schema 2020-12 with the used definitions in `$defs`. Schemas of
// inputs are closed: providers ignore fields that they do not know, so a misspelt field would be paid for and have no
// effect.

import { unescapePointer } from "../contract/json-pointer.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import {
  isAnnotation,
  isKept,
  isValidKeyword,
  REFUSED_KEYWORDS,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from "./schema-keywords.ts";
import { findByReference, isObject } from "./schema-parts.ts";

type Options = {
  document: unknown;
  /** Objects that do not say otherwise take no further fields. */
  isClosed: boolean;
  /** Boolean fields that only the adapter may set. They are removed, as are fields that only results have. */
  reserved: readonly string[];
};

/** A part of an object judges some of its fields only: it is left open, and the whole object is closed. */
type Definition = { reference: string; isPart: boolean };
type Context = Options & { names: Map<string, Definition>; nodes: number; visits: number; problem?: string };

const MAX_NODES = 20_000;
const MAX_DEFINITIONS = 2_000;
const MAX_VISITS = 100_000;
const MAX_HOPS = 16;
const MAX_SHOWN = 80;

/** The document must be bounded in depth, see `findDocumentProblem`. */
export function normalizeSchema(root: unknown, options: Options): { schema: JsonObject } | { refused: string } {
  const context: Context = { ...options, names: new Map(), nodes: 0, visits: 0 };
  const schema = convert(followReferences(root, options.document), context);
  const definitions: [string, unknown][] = [];
  // Conversion adds names: a map's iteration comes to those that were added meanwhile.
  for (const [name, { reference, isPart }] of context.names) {
    if (context.problem !== undefined) break;
    definitions.push([name, convert(findByReference(options.document, reference), context, isPart)]);
  }
  if (context.problem !== undefined) return { refused: context.problem };
  if (!isObject(schema)) return { refused: "The schema is not an object." };
  return { schema: definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) } };
}

function followReferences(schema: unknown, document: unknown): unknown {
  let found = schema;
  for (let hops = 0; hops < MAX_HOPS && isObject(found) && isLocal(found.$ref); hops++) {
    found = findByReference(document, toPointer(found.$ref));
  }
  return found;
}

const isLocal = (reference: unknown): reference is string =>
  typeof reference === "string" && reference.startsWith("#/");

/** References are URLs: characters can be written as `%20`. */
function toPointer(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

const show = (text: unknown): string => {
  const shown = typeof text === "string" ? text : (JSON.stringify(text) ?? "nothing");
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
};

function refuse(context: Context, reason: string): JsonObject {
  context.problem ??= reason;
  return {};
}

function convert(raw: unknown, context: Context, isPart = false): JsonObject | boolean {
  if (typeof raw === "boolean") return raw;
  if (context.problem !== undefined) return {};
  if (!isObject(raw)) return refuse(context, `The document has ${show(raw)} where a schema is expected.`);
  context.nodes += 1;
  if (context.nodes > MAX_NODES) return refuse(context, `The schema has more than ${MAX_NODES} nodes.`);
  const refused = REFUSED_KEYWORDS.find((keyword) => Object.hasOwn(raw, keyword));
  if (refused !== undefined) return refuse(context, `The schema has ${refused}, which is not supported.`);

  const source = translateOpenApi(mergeSinglePart(raw));
  const isWhole = joinsParts(source);
  const out = convertKeywords(source, context, isPart || isWhole);
  if (context.isClosed && !isPart) close(out, source, isWhole, context);
  return source.nullable === true ? allowNull(out) : out;
}

/** `allOf: [one]` is how generators write a reference with a default or a description beside it. */
function mergeSinglePart(schema: JsonObject): JsonObject {
  let merged = schema;
  while (Array.isArray(merged.allOf) && merged.allOf.length === 1 && isObject(merged.allOf[0])) {
    const { allOf: [only] = [], ...rest } = merged as JsonObject & { allOf: JsonObject[] };
    const isContradiction = Object.keys(only!).some(
      (key) => Object.hasOwn(rest, key) && !isAnnotation(key) && key !== "default" && rest[key] !== only![key],
    );
    if (isContradiction) return merged;
    merged = { ...only, ...rest };
  }
  return merged;
}

/** OpenAPI 3.0 has an older form of some keywords. */
function translateOpenApi(schema: JsonObject): JsonObject {
  const { example, ...out } = schema;
  if (example !== undefined && out.examples === undefined) out.examples = [example];
  // OpenAPI allows an object of named examples, which are for documentation only.
  if (out.examples !== undefined && !Array.isArray(out.examples)) delete out.examples;
  for (const [exclusive, inclusive] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof out[exclusive] !== "boolean") continue;
    const isExclusive = out[exclusive] && out[inclusive] !== undefined;
    delete out[exclusive];
    if (!isExclusive) continue;
    out[exclusive] = out[inclusive];
    delete out[inclusive];
  }
  if (Array.isArray(out.items)) {
    out.prefixItems = out.items;
    delete out.items;
  }
  // A mark of single fields in older forms: the object that has the field lists it as well.
  if (typeof out.required === "boolean") delete out.required;
  return out;
}

const isGiven = (schema: JsonObject, ...keywords: string[]): boolean =>
  keywords.some((keyword) => Object.hasOwn(schema, keyword));

/** Whether several schemas describe the fields of one object together. */
const joinsParts = (schema: JsonObject): boolean =>
  isGiven(schema, "allOf", "if", "then", "else", "dependentSchemas") ||
  (isGiven(schema, "properties") && isGiven(schema, "anyOf", "oneOf", "$ref"));

function convertKeywords(source: JsonObject, context: Context, isPart: boolean): JsonObject {
  const out: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(source)) {
    if (keyword === "$ref") out.push([keyword, convertReference(value, context, isPart)]);
    else if (keyword === "required") out.push([keyword, withoutReserved(source, context)]);
    else if (keyword === "uniqueItems" && !hasScalarItems(source, context)) continue;
    else if (SCHEMA_KEYWORDS.includes(keyword)) out.push([keyword, convertInner(keyword, value, context)]);
    else if (SCHEMA_LIST_KEYWORDS.includes(keyword)) {
      if (!Array.isArray(value) || value.length === 0) return refuse(context, describeValue(keyword, value));
      out.push([keyword, value.map((each) => convert(each, context, isPart && keyword !== "prefixItems"))]);
    } else if (SCHEMA_MAP_KEYWORDS.includes(keyword)) {
      if (!isObject(value)) return refuse(context, describeValue(keyword, value));
      // The compiler of validators leaves such a field out.
      if (Object.hasOwn(value, "__proto__")) return refuse(context, "The schema has a field with the name __proto__.");
      const fields = Object.entries(value).filter(([name, field]) => !isReserved(name, field, context));
      const isDependent = keyword === "dependentSchemas";
      out.push([
        keyword,
        Object.fromEntries(fields.map(([name, each]) => [name, convert(each, context, isDependent)])),
      ]);
    } else if (isKept(keyword)) out.push([keyword, value]);
  }
  const kept = Object.fromEntries(out);
  const wrong = Object.keys(kept).find((keyword) => isKept(keyword) && !isValidKeyword(keyword, kept[keyword]));
  if (wrong === undefined) return kept;
  return isAnnotation(wrong) ? without(kept, wrong) : refuse(context, describeValue(wrong, kept[wrong]));
}

const without = (schema: JsonObject, wrong: string): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(
      ([key, value]) => key !== wrong && (!isAnnotation(key) || isValidKeyword(key, value)),
    ),
  );

const describeValue = (keyword: string, value: unknown): string =>
  `The schema has ${show(value)} as ${keyword}, which is no value for it.`;

/** A condition judges a part of an object. An element or a further field is a value of its own. */
function convertInner(keyword: string, value: unknown, context: Context): JsonObject | boolean {
  return convert(value, context, ["not", "if", "then", "else"].includes(keyword));
}

function convertReference(value: unknown, context: Context, isPart: boolean): string {
  if (!isLocal(value)) {
    refuse(context, `The schema has a reference outside its definitions: ${show(value)}.`);
    return "";
  }
  const reference = toPointer(value);
  if (findByReference(context.document, reference) === undefined) {
    refuse(context, `The reference ${show(value)} leads nowhere.`);
    return "";
  }
  const name = `${nameDefinition(reference)}${isPart && context.isClosed ? ".part" : ""}`;
  const known = context.names.get(name);
  if (known && known.reference !== reference) refuse(context, `Two definitions have the name ${show(name)}.`);
  if (!known) context.names.set(name, { reference, isPart });
  if (context.names.size > MAX_DEFINITIONS)
    refuse(context, `The schema uses more than ${MAX_DEFINITIONS} definitions.`);
  return `#/$defs/${name}`;
}

/** A name that needs no escaping in references and is no member of every object. It does not depend on the order. */
function nameDefinition(reference: string): string {
  const parts = reference.split("/").slice(1).map(unescapePointer);
  const isComponent = parts.length === 3 && parts[0] === "components" && parts[1] === "schemas";
  const name = (isComponent ? parts[2]! : parts.join(".")).replaceAll(/[^\w.-]/g, "_");
  return name in {} ? `${name}.definition` : name;
}

function isReserved(name: string, field: unknown, { reserved, document, isClosed }: Context): boolean {
  const schema = followReferences(field, document);
  if (isClosed && isObject(schema) && schema.readOnly === true) return true;
  if (!reserved.includes(name)) return false;
  const parts = isObject(schema) ? [schema, ...[schema.anyOf, schema.allOf].flat()] : [];
  return parts.some((part) => isObject(part) && [part.type].flat().includes("boolean"));
}

function withoutReserved({ required, properties }: JsonObject, context: Context): unknown {
  if (!Array.isArray(required) || !isObject(properties)) return required;
  const fields = properties;
  return required.filter(
    (name) => !Object.hasOwn(fields, String(name)) || !isReserved(String(name), fields[String(name)], context),
  );
}

const SCALARS = ["string", "number", "integer", "boolean"];

/** Other elements are compared each with each, which takes long for a list of a caller. */
function hasScalarItems({ items }: JsonObject, { document }: Context): boolean {
  const schema = followReferences(items, document);
  return isObject(schema) && typeof schema.type === "string" && SCALARS.includes(schema.type);
}

function close(out: JsonObject, source: JsonObject, isWhole: boolean, context: Context): void {
  if (isGiven(out, "additionalProperties", "unevaluatedProperties")) return;
  if (!isWhole) {
    if (isGiven(out, "properties")) out.additionalProperties = false;
  } else if (describesFields(source, context, new Set())) out.unevaluatedProperties = false;
}

/** Whether a part names fields. An object of which no part does is a map. */
function describesFields(schema: unknown, context: Context, seen: Set<JsonObject>): boolean {
  if (!isObject(schema) || seen.has(schema) || context.problem !== undefined) return false;
  seen.add(schema);
  context.visits += 1;
  if (context.visits > MAX_VISITS) refuse(context, `The schema has more than ${MAX_VISITS} parts of parts.`);
  if (isObject(schema.properties)) return true;
  const target = isLocal(schema.$ref) ? findByReference(context.document, toPointer(schema.$ref)) : undefined;
  const parts = [target, schema.allOf, schema.anyOf, schema.oneOf, schema.then, schema.else].flat();
  return parts.some((part) => describesFields(part, context, seen));
}

function allowNull(schema: JsonObject): JsonObject {
  const isPlain = isGiven(schema, "type") && !isGiven(schema, "$ref", "allOf", "anyOf", "oneOf", "not", "const");
  if (isPlain) {
    const types = [...new Set([schema.type, "null"].flat())];
    const { enum: values } = schema;
    const isMissing = Array.isArray(values) && !values.includes(null);
    return { ...schema, type: types, ...(isMissing && { enum: [...(values as unknown[]), null] }) };
  }
  const isShown = (keyword: string) => isAnnotation(keyword) || keyword === "default";
  const [shown, judged] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(schema).filter(([keyword]) => isShown(keyword) === wanted)),
  );
  if (Object.keys(judged!).length === 0) return schema;
  return { anyOf: [judged, { type: "null" }], ...shown };
}

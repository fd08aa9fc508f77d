// The fields of an imported model, from its own JSON Schema and in its own order. What no widget fits is JSON.
import type { ImportedModel } from "@gesso/client";
import type { FormField, Widget } from "../forms/operation-forms.ts";
import { alternativesOf, type JsonSchema, resolveSchema, valuesOf } from "./resolve-schema.ts";

type FileKind = ImportedModel["files"]["input"][number]["kind"];
type ModelSchemas = Pick<ImportedModel, "input" | "files" | "order">;
type Context = { root: JsonSchema; files: ReadonlyMap<string, FileKind> };
type Place = { name: string; pointer: string; isRequired: boolean; depth: number };

/** Groups within groups within a list. What is deeper is JSON. */
const MAX_DEPTH = 3;
const MAX_GROUP_FIELDS = 8;
const LONG_TEXT = 300;
const MAX_SEED = 2 ** 31 - 1;
/** Names of texts that people write in sentences. */
const SENTENCES = /(^|_)(prompts?|text|lyrics|script|caption|question|instructions?|description|story|message)$/i;

export function describeModelFields({ input, files, order }: ModelSchemas): FormField[] {
  const root: JsonSchema = input;
  const context = { root, files: new Map(files.input.map(({ pointer, kind }) => [pointer, kind])) };
  const { properties = {} } = resolveSchema(root, root);
  const names = [...new Set([...order, ...Object.keys(properties)])].filter((name) => Object.hasOwn(properties, name));
  return fieldsOf(root, names, context, { pointer: "", depth: 0 });
}

function fieldsOf(
  schema: JsonSchema,
  names: readonly string[],
  context: Context,
  { pointer, depth }: Pick<Place, "pointer" | "depth">,
): FormField[] {
  const { properties = {}, required = [] } = schema;
  return names.map((name) =>
    describeField(properties[name] ?? {}, context, {
      name,
      pointer: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      isRequired: required.includes(name),
      depth,
    }),
  );
}

function describeField(given: JsonSchema, context: Context, place: Place): FormField {
  const schema = resolveSchema(given, context.root);
  const { description, default: preset, examples, title, deprecated } = schema;
  const [example] = examples ?? [];
  const isSimple = example !== undefined && typeof example !== "object";
  const shape = shapeOf(schema, context, place);
  return {
    name: place.name,
    label: labelOf(place.name, title, isImage(shape)),
    section: "main",
    ...(description && { description }),
    ...(place.isRequired && { isRequired: true as const, marksRequired: true as const }),
    ...(deprecated && { isDeprecated: true as const }),
    ...(preset !== undefined && preset !== null && preset !== "" && { default: preset }),
    ...(isSimple && { example: String(example) }),
    ...shape,
  };
}

type Shape = Pick<FormField, "widget"> & Partial<FormField>;

const isImage = ({ widget, items }: Shape) => widget === "image" || items?.[0]?.widget === "image";

function shapeOf(schema: JsonSchema, context: Context, place: Place): Shape {
  const kind = context.files.get(place.pointer);
  if (kind !== undefined) {
    return kind === "image" ? { widget: "image", accepts: "image" } : { widget: "file", fileKind: kind };
  }
  const values = valuesOf(schema);
  if (values) return { widget: "choice", options: values };
  const alternatives = alternativesOf(schema).map((each) => resolveSchema(each, context.root));
  if (alternatives.length > 0) return shapeOfAlternatives(alternatives, context, place);
  switch (schema.type) {
    case "string":
      return shapeOfText(schema, place);
    case "boolean":
      // A switch cannot say "not set", which without a default is the third state.
      return schema.default === undefined ? { widget: "choice", options: [true, false] } : { widget: "switch" };
    case "integer":
    case "number":
      return shapeOfNumber(schema, place);
    case "array":
      return shapeOfList(schema, context, place);
    case "object":
      return shapeOfGroup(schema, context, place) ?? JSON_SHAPE;
    default:
      return JSON_SHAPE;
  }
}

const JSON_SHAPE: Shape = { widget: "json", isAnyJson: true };

function shapeOfText({ maxLength }: JsonSchema, { name }: Place): Shape {
  const isLong = SENTENCES.test(name) || (maxLength ?? 0) >= LONG_TEXT;
  return { widget: "text", ...(isLong && { isLong }), ...(maxLength !== undefined && { maxLength }) };
}

function shapeOfNumber(schema: JsonSchema, { name }: Place): Shape {
  const isInteger = schema.type === "integer";
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const minimum = schema.minimum ?? (isInteger && exclusiveMinimum !== undefined ? exclusiveMinimum + 1 : undefined);
  const maximum = schema.maximum ?? (isInteger && exclusiveMaximum !== undefined ? exclusiveMaximum - 1 : undefined);
  const isSeed = isInteger && /(^|_)seed$/i.test(name) && (maximum ?? MAX_SEED) >= MAX_SEED;
  return {
    widget: isSeed ? "seed" : "number",
    ...(isInteger && { isInteger }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  };
}

/** A list of single values or of small groups; lists of lists are JSON. */
function shapeOfList(schema: JsonSchema, context: Context, place: Place): Shape {
  const { items, minItems, maxItems } = schema;
  if (typeof items !== "object") return JSON_SHAPE;
  const inner = { name: "", pointer: `${place.pointer}/*`, isRequired: false, depth: place.depth + 1 };
  const item = resolveSchema(items, context.root);
  const list: Shape = {
    widget: "list",
    ...(minItems !== undefined && { minItems }),
    ...(maxItems !== undefined && { maxItems }),
  };
  const isFile = context.files.has(inner.pointer);
  const group = isFile ? undefined : item.type === "object" ? shapeOfGroup(item, context, inner) : undefined;
  if (group?.items) return { ...list, items: group.items };
  const single = describeField(items, context, inner);
  const isSingle: readonly Widget[] = ["text", "number", "choice", "image", "file"];
  return isSingle.includes(single.widget) ? { ...list, items: [single] } : JSON_SHAPE;
}

/** An object with few known fields; undefined for maps and for objects that only JSON can express. */
function shapeOfGroup(schema: JsonSchema, context: Context, { pointer, depth }: Place): Shape | undefined {
  const names = Object.keys(schema.properties ?? {});
  const isMap = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  if (depth >= MAX_DEPTH || isMap || names.length === 0 || names.length > MAX_GROUP_FIELDS || schema.allOf) {
    return undefined;
  }
  return { widget: "group", items: fieldsOf(schema, names, context, { pointer, depth: depth + 1 }) };
}

function shapeOfAlternatives(alternatives: readonly JsonSchema[], context: Context, place: Place): Shape {
  const known = alternatives.map(valuesOf);
  const options = [...new Set(known.flatMap((values) => values ?? []))];
  const others = alternatives.filter((_, index) => known[index] === undefined);
  if (others.length === 0) return { widget: "choice", options };
  const [other] = others;
  if (others.length > 1 || !other) {
    const isNumber = others.every(({ type }) => type === "integer" || type === "number");
    return isNumber && options.length === 0 ? { widget: "number" } : JSON_SHAPE;
  }
  if (options.every((option) => typeof option === "string") && other.type === "string")
    return shapeOfText(other, place);
  const group = other.type === "object" ? shapeOfGroup(other, context, place) : undefined;
  return group?.items ? { widget: "union", options, items: group.items } : JSON_SHAPE;
}

const ACRONYMS: Record<string, string> = { id: "ID", ids: "IDs", url: "URL", urls: "URLs", fps: "FPS", cfg: "CFG" };

/** The title that the provider wrote, unless its program made it from the name: `num_images` as "Num Images". */
function labelOf(name: string, title: string | undefined, isForImage: boolean): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_\s-]+/)
    .filter(Boolean);
  const isMade = title === undefined || title.toLowerCase().replaceAll(/[\s_-]/g, "") === words.join("");
  if (!isMade && title) return title;
  if (isForImage && words.length > 1 && words.at(-1) === "url") words.pop();
  if (isForImage && words.length > 1 && words.at(-1) === "urls") words.splice(-2, 2, `${words.at(-2)}s`);
  const label = words.map((word) => ACRONYMS[word] ?? word).join(" ");
  return label.charAt(0).toUpperCase() + label.slice(1);
}

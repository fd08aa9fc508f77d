// Turns the document that a provider publishes for a model into a pinned model, or says why it cannot. Pure, and it
// never throws: the document comes from outside and is judged before anything expensive is done with it.
import type { PinnedModel } from "../contract/pinned-model.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { hashSchemas } from "./canonical-hash.ts";
import { compileValidator } from "./compile-validator.ts";
import { findMediaFields } from "./media-fields.ts";
import { normalizeSchema } from "./normalize-schema.ts";
import { DOCUMENT_FORMATS } from "./read-document.ts";
import { findDocumentProblem, findSchemaProblem } from "./schema-bounds.ts";
import { findDefinition, isObject, listFieldNames, listSameValueParts } from "./schema-parts.ts";

export type ImportResult = { model: PinnedModel } | { refused: string };

/** A path is a part of URLs and of the model's name. */
const PATH = /^[\w-][\w.-]*(\/[\w-][\w.-]*)+$/;
const MAX_PATH_CHARACTERS = 200;

/**
 * `document` is fal's OpenAPI document of an endpoint, or Replicate's model with its latest version. `path` is the
 * model that was asked for. Reasons are sentences for an operator.
 */
export function importModel(provider: string, path: string, document: unknown): ImportResult {
  const format = DOCUMENT_FORMATS.get(provider);
  if (!format) {
    const known = [...DOCUMENT_FORMATS.keys()].join(", ").replace(/, (?=\w+$)/, " and ");
    return { refused: `Models of ${provider} cannot be imported. Documents of ${known} can.` };
  }
  if (!PATH.test(path) || path.length > MAX_PATH_CHARACTERS) return { refused: `${path} is no path of a model.` };
  const tooLarge = findDocumentProblem(document);
  if (tooLarge !== undefined) return { refused: tooLarge };
  const read = format.read(path, document);
  if ("refused" in read) return read;

  const input = readSchema("input", read.input, { ...read, isClosed: true, reserved: format.reserved });
  if ("refused" in input) return input;
  const output = readSchema("output", read.output, { ...read, isClosed: false, reserved: [] });
  if ("refused" in output) return output;
  const problem = findInputProblem(input.schema);
  if (problem !== undefined) return { refused: problem };
  const { version, title, category } = read;
  return {
    model: {
      model: `${provider}:${path}`,
      provider,
      upstream: path,
      version,
      hash: hashSchemas(input.schema, output.schema),
      input: input.schema,
      output: output.schema,
      media: {
        input: findMediaFields(input.schema, { isResult: false }),
        output: findMediaFields(output.schema, { isResult: true }),
      },
      order: orderFields(input.schema, read.input, read.document),
      title,
      category,
    },
  };
}

type Side = "input" | "output";

function readSchema(
  side: Side,
  raw: unknown,
  options: Parameters<typeof normalizeSchema>[1],
): { schema: JsonObject } | { refused: string } {
  const normalized = normalizeSchema(raw, options);
  const problem = "refused" in normalized ? normalized.refused : findSchemaProblem(normalized.schema);
  if (problem !== undefined) return { refused: `The ${side} cannot be used. ${problem}` };
  return normalized;
}

/** An input is an object with named fields, and its validator must compile, which only this attempt proves. */
function findInputProblem(schema: JsonObject): string | undefined {
  const isOfObjects = schema.type === "object" || listFieldNames(schema, schema).length > 0;
  if (!isOfObjects) return "The input cannot be used. It is not an object.";
  try {
    compileValidator(schema);
    return undefined;
  } catch (error) {
    return `The input cannot be used. Its validator does not compile: ${String(error).slice(0, 200)}`;
  }
}

/** By the provider's list, by the numbers of its fields, or as the fields stand in the document. */
function orderFields(schema: JsonObject, raw: unknown, document: JsonObject): string[] {
  const names = listFieldNames(schema, schema);
  const listed = findListedOrder(raw, document);
  const fields = new Map(listFields(schema, schema));
  const rankOf = (name: string): number => {
    const place = listed.indexOf(name);
    const number = fields.get(name)?.["x-order"];
    return place >= 0 ? place : listed.length + (typeof number === "number" ? number : names.length);
  };
  return names.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function findListedOrder(raw: unknown, document: JsonObject): string[] {
  const schema = isObject(raw) && typeof raw.$ref === "string" ? findDefinition(document, raw) : raw;
  const listed = isObject(schema) ? schema["x-fal-order-properties"] : undefined;
  return Array.isArray(listed) ? listed.filter((name) => typeof name === "string") : [];
}

/** The fields of an object with those of its parts. */
function listFields(root: JsonObject, schema: JsonObject, seen = new Set<JsonObject>()): [string, JsonObject][] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const own = Object.entries((schema.properties as JsonObject | undefined) ?? {});
  const target = findDefinition(root, schema);
  const parts = [...listSameValueParts(schema), ...(target ? [target] : [])];
  return [
    ...own.filter((field): field is [string, JsonObject] => isObject(field[1])),
    ...parts.flatMap((part) => listFields(root, part, seen)),
  ];
}

// Finds the schemas of a model in the document that its provider publishes. A document of another model is refused: the
// path is what the adapter posts to, and its input would be judged by the wrong schema.
import type { JsonObject } from "../contract/schemas/run.ts";
import { findByReference, isObject } from "./schema-parts.ts";

export type ModelDocument = {
  /** What references in the schemas are relative to. */
  document: JsonObject;
  input: unknown;
  output: unknown;
  version: string | null;
  title: string | null;
  category: string | null;
};
type Read = (path: string, document: unknown) => ModelDocument | { refused: string };

export type DocumentFormat = {
  read: Read;
  /** Boolean fields that only the adapter may set. */
  reserved: readonly string[];
};

/** Follows names of own fields. Undefined if one is missing. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value,
  );

const MAX_TEXT = 200;
const textAt = (value: unknown, ...names: string[]): string | null => {
  const found = at(value, ...names);
  return typeof found === "string" && found !== "" && found.length <= MAX_TEXT ? found : null;
};

const JSON_BODY = ["content", "application/json", "schema"];

/** An OpenAPI document with the operations of fal's queue for one endpoint. */
const readFal: Read = (path, document) => {
  if (!isObject(document)) return { refused: "The document is not a JSON object." };
  const paths = Object.entries(isObject(document.paths) ? document.paths : {});
  const submits = paths.filter(([name, item]) => isObject(at(item, "post")) && !name.includes("/requests/"));
  const [name, submit] = submits.find(([each]) => each === `/${path}`) ?? submits[0] ?? [];
  if (name === undefined) return { refused: "The document has no operation that submits a request (POST)." };
  const endpoint = textAt(document, "info", "x-fal-metadata", "endpointId") ?? name.slice(1);
  if (endpoint !== path) return { refused: `The document is of ${endpoint}, not of ${path}.` };
  const input = at(submit, "post", "requestBody", ...JSON_BODY);
  if (input === undefined) return { refused: "The operation that submits a request has no JSON body." };
  const results = paths.filter(([each]) => /\/requests\/\{[^/}]+\}$/.test(each)).map(([, item]) => at(item, "get"));
  return {
    document,
    input,
    output: results.map((get) => at(get, "responses", "200", ...JSON_BODY)).find((each) => each !== undefined) ?? {},
    version: null,
    title: textAt(document, "info", "x-fal-metadata", "title"),
    category: textAt(document, "info", "x-fal-metadata", "category"),
  };
};

/** A model of Replicate with its latest version, whose OpenAPI document has the schemas `Input` and `Output`. */
const readReplicate: Read = (path, model) => {
  if (!isObject(model)) return { refused: "The document is not a JSON object." };
  const name = `${textAt(model, "owner")}/${textAt(model, "name")}`;
  if (name !== path) return { refused: `The document is of ${name}, not of ${path}.` };
  const version = textAt(model, "latest_version", "id");
  if (version === null) return { refused: "The model has no version." };
  const document = at(model, "latest_version", "openapi_schema");
  if (!isObject(document)) return { refused: "The version of the model has no OpenAPI document." };
  const input = findByReference(document, "#/components/schemas/Input");
  if (input === undefined) return { refused: "The version of the model has no schema Input." };
  const output = findByReference(document, "#/components/schemas/Output") ?? {};
  return { document, input, output, version, title: textAt(model, "name"), category: null };
};

/** The providers whose documents can be imported. */
export const DOCUMENT_FORMATS: ReadonlyMap<string, DocumentFormat> = new Map([
  // With `sync_mode`, fal returns the files as data and forgets the result: after a crash a paid result would be gone.
  ["fal", { read: readFal, reserved: ["sync_mode"] }],
  ["replicate", { read: readReplicate, reserved: [] }],
  ["sandbox", { read: readFal, reserved: [] }],
]);

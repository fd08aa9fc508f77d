// Generates what the commands of the CLI are made of, from the contract: every operation with its fields as flags need
// them, and which fields take images. The CLI writes no field by hand.
import { type ClientOperation, type Contract, listClientOperations, type Schema } from "./client-operations.ts";
import { GENERATED_NOTICE } from "./markdown.ts";

type FieldType = "text" | "integer" | "number" | "boolean" | "choice" | "image" | "file" | "run" | "object";

type CliField = {
  name: string;
  type: FieldType;
  description?: string;
  isRequired?: true;
  isList?: true;
  isNullable?: true;
  isOpen?: true;
  isDeprecated?: true;
  options?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  /** Of an image: a URL only, neither base64 nor a run. */
  isUrl?: true;
  /** Of an image: the fields that take a local file and a run instead. */
  fileField?: string;
  runField?: string;
  /** Of a file: the field that takes a URL or a run instead. */
  imageField?: string;
  /** Of a list of objects: the property with the image and the one with its name. */
  imageProperty?: string;
  nameProperty?: string;
};

const find = (schema: Schema, test: (each: Schema) => boolean): boolean =>
  test(schema) || (schema.anyOf ?? []).some((each) => find(each, test));
const hasWidget = (schema: Schema, widget: string) => find(schema, (each) => each["x-widget"] === widget);
const hasType = (schema: Schema, type: string) => find(schema, (each) => [each.type].flat().includes(type));

function optionsOf(schema: Schema): unknown[] | undefined {
  const choice = (schema.anyOf ?? []).find((each) => each.enum);
  const constants = (schema.anyOf ?? []).flatMap((each) => each.const ?? []);
  const known = schema.enum ?? choice?.enum ?? (schema.const === undefined ? constants : [schema.const]);
  // An enumeration can have a number and the same number as text.
  const distinct = known.filter((value, index) => known.findIndex((each) => String(each) === String(value)) === index);
  return distinct.length > 0 ? distinct : undefined;
}

function typeOf(schema: Schema): FieldType {
  for (const widget of ["file", "image", "run"] as const) if (hasWidget(schema, widget)) return widget;
  if (optionsOf(schema)) return "choice";
  for (const type of ["boolean", "integer", "number"] as const) if (hasType(schema, type)) return type;
  return hasType(schema, "string") ? "text" : "object";
}

/** Known names, beside which any other text is a value. */
const isOpen = ({ anyOf = [] }: Schema) =>
  anyOf.some((each) => each.enum) && anyOf.some((each) => each.type === "string" && !each.enum);

const isList = ({ type }: Schema) => type === "array";

/** The object in a list that consists of an image and a name for it. */
function taggedImageOf({ items }: Schema): Pick<CliField, "imageProperty" | "nameProperty"> {
  const properties = Object.entries(items?.properties ?? {});
  const image = properties.find(([, schema]) => typeOf(schema) === "image")?.[0];
  const name = properties.find(([, schema]) => typeOf(schema) === "text")?.[0];
  return image && name && properties.length === 2 ? { imageProperty: image, nameProperty: name } : {};
}

/** `image_url`, `imageUrl` and `image_file` are about the same image as `image`. */
const stemOf = (name: string) => name.replace(/(_url|Url|_file|_image)$/, "");

function siblingsOf(name: string, schema: Schema, properties: [string, Schema][]): Partial<CliField> {
  const named = (type: FieldType) => properties.filter(([, each]) => typeOf(each) === type && !isList(each));
  const sibling = (type: FieldType) => named(type).find(([other]) => stemOf(other) === stemOf(name))?.[0];
  const type = typeOf(schema);
  const imageField = sibling("image");
  if (type === "file") return imageField ? { imageField } : {};
  if (type !== "image" || isList(schema)) return {};
  const fileField = sibling("file");
  const runField = named("image")[0]?.[0] === name ? named("run")[0]?.[0] : undefined;
  return { ...(fileField && { fileField }), ...(runField && { runField }) };
}

function describeField(name: string, schema: Schema, { properties = {}, required = [] }: Schema): CliField {
  const own = isList(schema) ? (schema.items ?? {}) : schema;
  const options = optionsOf(own);
  const { description, minimum, maximum } = schema;
  return {
    name,
    type: typeOf(own),
    ...(description !== undefined && { description }),
    ...(required.includes(name) && { isRequired: true as const }),
    ...(isList(schema) && { isList: true as const }),
    ...(hasType(schema, "null") && { isNullable: true as const }),
    ...(schema.deprecated && { isDeprecated: true as const }),
    ...(options && { options }),
    ...(isOpen(own) && { isOpen: true as const }),
    ...(schema.default !== undefined && { default: schema.default }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(typeOf(own) === "image" && !find(own, (each) => each["x-inline"] === true) && { isUrl: true as const }),
    ...siblingsOf(name, schema, Object.entries(properties)),
    ...(isList(schema) && taggedImageOf(schema)),
  };
}

const kindOf = ({ method, operation }: ClientOperation) =>
  operation["x-run-type"] || operation["x-creates-run"] ? "run" : method === "GET" ? "query" : "change";

const isStream = ({ method, operation }: ClientOperation) =>
  method === "GET" && Object.values(operation.responses).some(({ content = {} }) => "text/event-stream" in content);

function describeOperation(operation: ClientOperation) {
  const { input, inPath, method, path, summary, example, commonRunFields } = operation;
  const result = operation.operation["x-result-fields"];
  const fields = Object.entries(input.properties ?? {}).filter(([name]) => !commonRunFields.includes(name));
  return {
    kind: kindOf(operation),
    summary,
    method,
    path,
    ...(inPath.length > 0 && { pathFields: inPath }),
    ...(operation.operation["x-run-type"] && { hasEstimate: true }),
    ...(operation.form && { takesFiles: true }),
    ...(isStream(operation) && { isStream: true }),
    ...(result && { resultFields: result }),
    ...(operation.operation["x-rules"] && { rules: operation.operation["x-rules"] }),
    ...(example && { example }),
    ...(commonRunFields.length > 0 && { hasRunFields: true }),
    fields: fields.map(([name, schema]) => describeField(name, schema, input)),
  };
}

/** One line per operation, so that a change of one operation is a change of one line. */
export function generateCliOperations(contract: object): string {
  const operations = listClientOperations(contract as Contract);
  const runOperation = operations.find(({ commonRunFields }) => commonRunFields.length > 0)!;
  const runFields = runOperation.commonRunFields.map((name) =>
    describeField(name, runOperation.input.properties![name]!, runOperation.input),
  );
  const lines = operations.map(
    (each) => `    ${JSON.stringify(each.name)}: ${JSON.stringify(describeOperation(each))}`,
  );
  const head = [`"notice": ${JSON.stringify(GENERATED_NOTICE)}`, `"runFields": ${JSON.stringify(runFields)}`];
  return `{\n  ${head.join(",\n  ")},\n  "operations": {\n${lines.join(",\n")}\n  }\n}\n`;
}

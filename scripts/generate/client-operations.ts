// The parts of the OpenAPI description that the client generator reads.
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  description?: string;
  default?: unknown;
  deprecated?: boolean;
  writeOnly?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  "x-widget"?: string;
  "x-inline"?: boolean;
  "x-body"?: string;
};

type Parameter = {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};
type Media = Record<string, { schema: Schema; example?: unknown }>;

export type Operation = {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: Media };
  responses: Record<string, { content?: Media }>;
  "x-run-type"?: string;
  "x-creates-run"?: boolean;
  "x-result-fields"?: string[];
  "x-rules"?: string[];
  "x-aliases"?: string[];
  "x-variants"?: { name: string; summary: string; sets: Record<string, unknown> }[];
};

export type Contract = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
  "x-events": Record<string, Schema>;
  "x-errors": Record<string, unknown>;
};

/** An operation with all its inputs: path, query and body. */
export type ClientOperation = {
  name: string;
  summary: string;
  method: string;
  path: string;
  operation: Operation;
  json?: Schema;
  form?: Schema;
  /** Path, query and body together. */
  input: Schema;
  inPath: string[];
  /** Its fields that all run operations share. */
  commonRunFields: string[];
  sets?: Record<string, unknown>;
  responseSchema: Schema;
  example?: Record<string, unknown>;
};

export const toPascalCase = (name: string) =>
  name
    .split(/[.\-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** A type named `Error` would hide the built-in one. */
export const typeName = (name: string) => (name === "Error" ? "Fault" : name);

export const refName = (schema: Schema | undefined) => {
  const name = schema?.$ref?.split("/").at(-1);
  return name && typeName(name);
};

export function listClientOperations({ paths }: Contract): ClientOperation[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const own = verbOf(path, method, operation);
      const variants = (operation["x-variants"] ?? []).map(({ name, summary, sets }) => ({
        ...own,
        name,
        summary,
        sets,
        input: without(own.input, Object.keys(sets)),
        ...(own.form && { form: without(own.form, Object.keys(sets)) }),
      }));
      const hidden = variants.flatMap(({ sets }) => Object.keys(sets));
      const plain = { ...own, ...(own.form && { form: without(own.form, hidden) }), input: without(own.input, hidden) };
      return [plain, ...variants];
    }),
  );
  const making = operations.filter(({ operation }) => operation["x-run-type"]);
  const has = ({ input }: ClientOperation, field: string) => field in (input.properties ?? {});
  const ofRun = Object.keys(making[0]?.input.properties ?? {}).filter((field) =>
    making.every((operation) => has(operation, field)),
  );
  return operations
    .map((operation) => (making.includes(operation) ? { ...operation, commonRunFields: ofRun } : operation))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const without = (schema: Schema, fields: string[]): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => !fields.includes(name))),
});

/** The client takes the same values for an image in JSON and in forms, so the pattern of the JSON body says nothing. */
const withoutImagePatterns = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema), (_, value) => {
    if (value?.["x-inline"] !== true) return value;
    const { pattern: _pattern, ...rest } = value;
    return rest;
  });

function verbOf(path: string, method: string, operation: Operation): ClientOperation {
  const content = operation.requestBody?.content ?? {};
  const json = content["application/json"];
  const form = content["multipart/form-data"];
  const parameters = (operation.parameters ?? []).filter((each) => each.in !== "header");
  const carried = Object.fromEntries(
    parameters.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
  );
  const jsonSchema = json && withoutImagePatterns(json.schema);
  const body = form?.schema ?? jsonSchema;
  const answers = Object.entries(operation.responses).filter(([status]) => /^20[012]$/.test(status));
  const media = answers.map(([, { content: own }]) => own).find((own) => own !== undefined) ?? {};
  return {
    name: operation.operationId,
    summary: operation.summary,
    method: method.toUpperCase(),
    path,
    operation,
    ...(jsonSchema && { json: jsonSchema }),
    ...(form && { form: form.schema }),
    input: {
      type: "object",
      properties: { ...carried, ...body?.properties },
      required: [...parameters.filter((each) => each.required).map(({ name }) => name), ...(body?.required ?? [])],
    },
    inPath: parameters.filter((each) => each.in === "path").map(({ name }) => name),
    commonRunFields: [],
    responseSchema: Object.values(media)[0]?.schema ?? {},
    ...(json?.example !== undefined && { example: json.example as Record<string, unknown> }),
  };
}

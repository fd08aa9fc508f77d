// Generates the OpenAPI 3.1 document from the operations and the error catalogue. Clients depend on this document only.
import { z } from "zod";
import { Fault, type FaultCode, faults } from "../faults/faults.ts";
import { VERSION } from "../runtime/version.ts";
import { IMAGE_REFERENCE_PATTERN } from "./image-fields.ts";
import type { BodyKind, Operation } from "./operation.ts";
import { EVENT_DATA, Event } from "./schemas/events.ts";
import { ErrorBody, type JsonObject, Run } from "./schemas/run.ts";

/** Of the interface, which changes less often than the program. */
const INTERFACE_VERSION = "1.11.0-beta";
const MEDIA: Record<BodyKind, string> = { json: "application/json", form: "multipart/form-data" };

/** `operations` are those of the public contract: this folder does not know them. */
export function generateOpenApi(operations: readonly Operation[]): JsonObject {
  const schemas: JsonObject = {};
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations.filter((each) => each.variantOf === undefined)) {
    const path = `/api/v1${operation.http.path.replace(/:(\w+)/g, "{$1}")}`;
    const described = describeOperation(operation, operations, schemas);
    paths[path] = { ...paths[path], [operation.http.method.toLowerCase()]: described };
  }
  schemaOf(ErrorBody, "output", schemas);
  const events = Object.entries(EVENT_DATA).map(([type, data]) => [type, schemaOf(data, "output", schemas)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Gesso",
      version: INTERFACE_VERSION,
      "x-gesso-version": VERSION,
      summary: "Generate and edit images and videos with many models through one API",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { api_key: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: { Error: { description: "Error", content: { [MEDIA.json]: { schema: refTo("Error") } } } },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key or an access token" },
        api_key: { type: "apiKey", in: "header", name: "X-API-Key" },
      },
    },
    // The schema of `data` for each type of event.
    "x-events": Object.fromEntries(events),
    "x-errors": Object.fromEntries((Object.keys(faults) as FaultCode[]).map((code) => [code, describeFault(code)])),
  };
}

/** `retry` and `says` are names of the published contract. */
const describeFault = (code: FaultCode) => ({
  retry: new Fault(code).retryable,
  status: faults[code].status,
  says: faults[code].message,
});

function describeOperation(operation: Operation, operations: readonly Operation[], schemas: JsonObject): JsonObject {
  const { name, summary, http, rules = [], deprecated } = operation;
  const input = inputSchema(operation, schemas);
  const inPath = listPathParameters(operation);
  const isQuery = http.bodies === undefined;
  const properties = (input.properties ?? {}) as Record<string, JsonObject>;
  const required = (input.required ?? []) as string[];
  const parameters = Object.entries(properties)
    .filter(([field]) => isQuery || inPath.includes(field))
    .map(([field, { description, ...schema }]) => ({
      name: field,
      in: inPath.includes(field) ? "path" : "query",
      required: inPath.includes(field) || required.includes(field),
      ...(description ? { description } : {}),
      schema,
      ...(inPath.includes(field) && operation.example[field] !== undefined && { example: operation.example[field] }),
    }));
  const bodyExample = Object.fromEntries(Object.entries(operation.example).filter(([name]) => !inPath.includes(name)));
  const isCreating = http.method === "POST" && (operation.plan !== undefined || http.bodies !== undefined);
  const variants = operations.filter((each) => each.variantOf === name);
  return {
    operationId: name,
    summary,
    tags: [name.split(".")[0]],
    ...(operation.run_type && { "x-run-type": operation.run_type }),
    ...(operation.repeatRun && { "x-creates-run": true }),
    ...(operation.changes && { "x-changes": operation.changes }),
    ...(operation.returnsContent && { "x-returns-content": true }),
    ...(operation.resultFields && { "x-result-fields": operation.resultFields }),
    ...(rules.length > 0 && { "x-rules": rules.map((rule) => rule.description) }),
    ...(operation.aliases && { "x-aliases": operation.aliases }),
    ...(deprecated && { "x-deprecated-fields": deprecated }),
    ...(variants.length > 0 && {
      "x-variants": variants.map(({ name, summary, fixedValues }) => ({ name, summary, sets: fixedValues })),
    }),
    parameters: [...parameters, ...(isCreating ? [IDEMPOTENCY_KEY] : []), ...(operation.events ? [LAST_EVENT_ID] : [])],
    ...(http.bodies && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          http.bodies.map((body) => [
            MEDIA[body],
            {
              schema: inputSchema(operation, schemas, body),
              ...(body === "json" && { example: bodyExample }),
            },
          ]),
        ),
      },
    }),
    responses: describeResponses(operation, schemas),
  };
}

const IMAGE_RESPONSE = {
  description: "The image",
  content: { "image/png": { schema: { type: "string", format: "binary" } } },
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Idempotency key, 1 to 255 characters. Repeating a request with the same key returns the first result",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "ID of the last event that you received. The stream continues after it",
  schema: { type: "string" },
};

const listPathParameters = ({ http }: Operation) => [...http.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);

/**
 * The input schema for one kind of body: some fields and rules apply to JSON or form bodies only, and path parameters
 * to none. Without a kind, all fields.
 */
function inputSchema(operation: Operation, schemas: JsonObject, body?: BodyKind): JsonObject {
  const { $schema: _, required, ...schema } = schemaOf(operation.input, "input", schemas);
  const inPath = body === undefined ? [] : listPathParameters(operation);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>);
  const properties = Object.fromEntries(
    fields
      .filter(([name, field]) => !inPath.includes(name) && (body !== "json" || field["x-body"] === undefined))
      .map(([name, field]) => [name, body === "json" ? withImagePattern(field) : field]),
  );
  const requiredFields = ((required ?? []) as string[]).filter((name) => !inPath.includes(name));
  const rules = (operation.rules ?? [])
    .filter((rule) => rule.body === undefined || rule.body === body)
    .map((rule) => rule.schema)
    .filter((rule) => Object.keys(rule).length > 0);
  const closed = {
    ...{ ...schema, properties },
    ...(requiredFields.length > 0 && { required: requiredFields }),
    additionalProperties: false,
  };
  return rules.length > 0 ? { ...closed, allOf: rules } : closed;
}

/** The field with the pattern of image references. In a form, such a value can also be a file. */
const withImagePattern = (schema: JsonObject): JsonObject => ({
  ...schema,
  ...(schema["x-inline"] === true && { pattern: IMAGE_REFERENCE_PATTERN }),
  ...(schema.items !== undefined && { items: withImagePattern(schema.items as JsonObject) }),
  ...(schema.properties !== undefined && {
    properties: Object.fromEntries(
      Object.entries(schema.properties as Record<string, JsonObject>).map(([name, each]) => [
        name,
        withImagePattern(each),
      ]),
    ),
  }),
});

function describeResponses(operation: Operation, schemas: JsonObject): JsonObject {
  // The schema describes the `data` of each event.
  const events = { "text/event-stream": { schema: schemaOf(Event, "output", schemas) } };
  const content = {
    ...(operation.events && events),
    [MEDIA.json]: { schema: schemaOf(operation.output, "output", schemas) },
    ...(operation.toCsvRows && { "text/csv": { schema: { type: "string" } } }),
  };
  const ended = operation.responseKind === "image" ? IMAGE_RESPONSE : { description: "The run has ended", content };
  const refused: FaultCode[] = ["validation_error", "authentication_required", "run_not_found"];
  const errors = refused.map((code) => String(faults[code].status));
  const error = operation.errorOutput
    ? {
        description: "Error",
        content: { [MEDIA.json]: { schema: schemaOf(operation.errorOutput, "output", schemas) } },
      }
    : { $ref: "#/components/responses/Error" };
  return {
    ...(operation.plan || operation.repeatRun
      ? {
          200: { ...ended, content: { ...ended.content, ...events } },
          202: { description: "The run is in progress", content },
          204: { description: "With `Prefer: return=minimal`: `Location` and `X-Run-Id` identify the run" },
        }
      : { [operation.http.status ?? 200]: { description: operation.summary, content } }),
    ...(operation.events && { 204: { description: "The run has ended and you have received all of its events" } }),
    ...(operation.output === Run &&
      operation.http.method === "POST" && { 202: { description: "The run is in progress", content } }),
    ...Object.fromEntries(errors.map((status) => [status, error])),
    default: error,
  };
}

const refTo = (id: string) => ({ $ref: `#/components/schemas/${id}` });

/** Returns the JSON Schema of a zod schema. Named schemas inside it move to the components. */
function schemaOf(schema: z.ZodType, io: "input" | "output", schemas: JsonObject): JsonObject {
  const { $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonObject & {
    $defs?: JsonObject;
  };
  const moved = (value: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [id, definition] of Object.entries($defs))
    schemas[id] ??= withoutSchemaIds(moved(definition as JsonObject));
  const id = schema.meta()?.id;
  if (!id) return withoutSchemaIds(moved(rest));
  schemas[id] ??= withoutSchemaIds(moved(rest));
  return refTo(id);
}

/** Inside an OpenAPI document `id` and `$schema` have another meaning. */
const withoutSchemaIds = ({ $schema: _schema, id: _id, $id: _dollar, ...rest }: JsonObject): JsonObject => rest;

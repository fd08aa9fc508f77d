// Converts the input of a call to an HTTP request: path, kind of body, and images. Files are sent as form parts if the
// operation accepts a form; otherwise they are uploaded first.
import { formatFieldErrors } from "./error-response.ts";
import { ValidationError } from "./errors.ts";
import { createMultipartBody, type FormEntry, type UploadProgress } from "./multipart.ts";
import { type Fields, type Operation, pathFields } from "./operation.ts";
import { type FileSource, type FormPart, isFile, isRunReference, type RunReference, toFormPart } from "./sources.ts";
import { type Schema, validateInput } from "./validation.ts";

export type BodyKind = "json" | "form";

export type PreparedRequest = {
  path: string;
  /** Called for every attempt. */
  body(): Promise<{ body?: BodyInit; headers: Record<string, string> }>;
  /** The body contains a stream, so the request cannot be retried. */
  isOnce: boolean;
};

/** Requests to the server that prepare image fields. */
export type SourceResolver = {
  upload(file: FileSource): Promise<string>;
  imageUrlOf(run: RunReference): Promise<string>;
};

type PrepareOptions = {
  operation: Operation;
  input: Fields;
  kind?: BodyKind | undefined;
  validate: boolean;
  onUpload?: ((progress: UploadProgress) => void) | undefined;
};

export async function prepareRequest(request: PrepareOptions, resolver: SourceResolver): Promise<PreparedRequest> {
  const { operation, onUpload } = request;
  const kind = request.kind ?? chooseBodyKind(operation, request.input);
  const presets = request.kind ? {} : operation.defaults;
  const input: Fields = { ...presets, ...dropUndefined(request.input), ...operation.sets };
  if (request.validate) assertValidInput(operation, input, kind);

  const inPath = pathFields(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(String(input[field])));
  const rest = Object.fromEntries(Object.entries(input).filter(([field]) => !inPath.includes(field)));
  if (!operation.bodies) return { path: path + buildQuery(rest), body: async () => ({ headers: {} }), isOnce: false };

  const entries = Object.entries(rest);
  if (kind === "form") {
    const parts = await Promise.all(
      entries.map(([field, value]) => formEntries(field, value, operation.fields[field], resolver)),
    );
    const flat = parts.flat();
    const isOnce = flat.some(([, value]) => typeof value !== "string" && value.stream !== undefined);
    return { path, body: () => createMultipartBody(flat, onUpload), isOnce };
  }
  const ready = await Promise.all(
    entries.map(
      async ([field, value]) => [field, await resolveSources(value, operation.fields[field], resolver)] as const,
    ),
  );
  const text = JSON.stringify(Object.fromEntries(ready));
  return { path, body: async () => ({ body: text, headers: { "content-type": "application/json" } }), isOnce: false };
}

const dropUndefined = (input: Fields): Fields =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

function assertValidInput(operation: Operation, input: Fields, kind: BodyKind): void {
  const { fields, required = [], rules = [], jsonRules = [], formRules = [] } = operation;
  const errors = validateInput({ required, properties: fields }, input, [
    ...rules,
    ...(kind === "form" ? formRules : jsonRules),
  ]);
  if (errors.length === 0) return;
  const details = { errors };
  const message = ["The request is invalid. See details.errors.", ...formatFieldErrors(details)].join(" ");
  throw new ValidationError(`${operation.name}: ${message}`, { code: "validation_error", details });
}

/** `form` if the input contains files and the operation accepts a form, otherwise `json`. */
function chooseBodyKind({ bodies = "", fields }: Operation, input: Fields): BodyKind {
  if (!bodies.includes("json")) return "form";
  if (!bodies.includes("form")) return "json";
  const needsForm = Object.entries(fields).some(([field, schema]) => {
    const values = [input[field]].flat();
    return schema.form
      ? values[0] !== undefined
      : (schema.sourceKind ?? schema.items?.sourceKind) && values.some(isFile);
  });
  return needsForm ? "form" : "json";
}

async function formEntries(
  field: string,
  value: unknown,
  schema: Schema | undefined,
  resolver: SourceResolver,
): Promise<FormEntry[]> {
  if (schema?.sourceKind === "file") return [[field, await toFormPart(value as FileSource)]];
  const items = schema?.sourceKind ? [value] : schema?.items?.sourceKind && Array.isArray(value) ? value : undefined;
  if (items) {
    const own = schema?.sourceKind ? schema : schema?.items;
    const parts = await Promise.all(
      items.map((item) => (isFile(item) ? toFormPart(item as FileSource) : resolveSources(item, own, resolver))),
    );
    return parts.map((part, index) => [field, isFile(items[index]) ? (part as FormPart) : toText(part)]);
  }
  return [[field, toText(await resolveSources(value, schema, resolver))]];
}

const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** The run ID, or an object if another output or a frame is wanted. */
const toRunValue = ({ run_id, output_index, frame }: RunReference) =>
  output_index === undefined && frame === undefined ? run_id : { run_id, output_index, frame };

/** Replaces every image in the value by its URL, its run ID or its output of a run. */
async function resolveSources(value: unknown, schema: Schema | undefined, resolver: SourceResolver): Promise<unknown> {
  if (schema?.sourceKind && typeof value === "object" && value !== null) {
    if (!isRunReference(value)) return resolver.upload(value as FileSource);
    return schema.sourceKind === "inline" ? toRunValue(value) : resolver.imageUrlOf(value);
  }
  const { items, properties } = schema ?? {};
  if (items && Array.isArray(value)) return Promise.all(value.map((each) => resolveSources(each, items, resolver)));
  if (!properties || typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).map(
    async ([field, each]) => [field, await resolveSources(each, properties[field], resolver)] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}

function buildQuery(input: Fields): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(input)) {
    if (value !== null) query.append(field, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `?${query}` : "";
}

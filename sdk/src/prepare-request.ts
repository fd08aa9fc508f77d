// Converts the input of a call to an HTTP request: path, query and body. Image fields are the business of the module
// that the operation refers to, if it has any.
import type { ConnectionInternals } from "./connection.ts";
import { formatFieldErrors } from "./error-response.ts";
import { ValidationError } from "./errors.ts";
import { type Fields, type Operation, pathFields } from "./operation.ts";
import type { CallOptions } from "./settings.ts";
import { validateInput } from "./validation.ts";

export type BodyKind = "json" | "form";

export type PreparedRequest = {
  path: string;
  /** Called for every attempt. */
  body(): Promise<{ body?: BodyInit; headers: Record<string, string> }>;
  /** The body contains a stream, so the request cannot be retried. */
  isOnce: boolean;
};

type Entries = (readonly [field: string, value: unknown])[];
export type BodyRequest = {
  internals: ConnectionInternals;
  operation: Operation;
  options: CallOptions;
  entries: Entries;
};

/** What an operation with image fields needs: see image-sources.ts. */
export type ImageSupport = {
  chooseBodyKind(operation: Operation, input: Fields): BodyKind;
  resolveJson(request: BodyRequest): Promise<Entries>;
  buildForm(request: BodyRequest): Promise<Pick<PreparedRequest, "body" | "isOnce">>;
};

type PrepareOptions = {
  operation: Operation;
  input: Fields;
  options: CallOptions;
  kind?: BodyKind | undefined;
};

export async function prepareRequest(
  internals: ConnectionInternals,
  request: PrepareOptions,
): Promise<PreparedRequest> {
  const { operation, options } = request;
  const { images } = operation;
  const kind = request.kind ?? images?.chooseBodyKind(operation, request.input) ?? "json";
  const presets = request.kind ? {} : operation.defaults;
  const input: Fields = { ...presets, ...dropUndefined(request.input), ...operation.sets };
  if (internals.settings.validate) assertValidInput(operation, input, kind);

  const inPath = pathFields(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(String(input[field])));
  const entries: Entries = Object.entries(input).filter(([field]) => !inPath.includes(field));
  if (!operation.bodies)
    return { path: path + buildQuery(entries), body: async () => ({ headers: {} }), isOnce: false };

  const own: BodyRequest = { internals, operation, options, entries };
  if (kind === "form" && images) return { path, ...(await images.buildForm(own)) };
  const text = JSON.stringify(Object.fromEntries(images ? await images.resolveJson(own) : entries));
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

function buildQuery(entries: Entries): string {
  const query = new URLSearchParams();
  for (const [field, value] of entries) {
    if (value !== null) query.append(field, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `?${query}` : "";
}

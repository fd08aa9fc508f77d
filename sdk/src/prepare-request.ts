// Converts the input of a call to an HTTP request: path, query and body. Image fields are the business of the module
// that the operation refers to, if it has any.
import { formatFieldErrors } from "./error-response.ts";
import { ValidationError } from "./errors.ts";
import {
  type BodyKind,
  type BodyRequest,
  type FieldEntries,
  type Fields,
  hasBody,
  type Operation,
  pathFields,
  type RequestBody,
} from "./operation.ts";
import { validateInput } from "./validation.ts";

type PrepareOptions = Omit<BodyRequest, "entries"> & {
  input: Fields;
  kind?: BodyKind | undefined;
  validate: boolean;
};

export async function prepareRequest(request: PrepareOptions): Promise<RequestBody & { path: string }> {
  const { operation, options, startRequest } = request;
  const { images } = operation;
  const kind = request.kind ?? images?.chooseBodyKind(operation, request.input) ?? "json";
  const presets = request.kind ? {} : operation.defaults;
  const given = { ...presets, ...dropUndefined(request.input), ...operation.sets };
  const input = kind === "form" && images ? images.parseForm(operation, given) : given;
  if (request.validate) assertValidInput(operation, input, kind);

  const inPath = pathFields(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(String(input[field])));
  const entries: FieldEntries = Object.entries(input).filter(([field]) => !inPath.includes(field));
  if (!hasBody(operation)) return { path: path + buildQuery(entries), isOnce: false };

  const own: BodyRequest = { operation, options, entries, startRequest };
  if (kind === "form" && images) return { path, ...(await images.buildForm(own)) };
  const text = JSON.stringify(Object.fromEntries(images ? await images.resolveJson(own) : entries));
  return { path, body: async () => ({ body: text, headers: { "content-type": "application/json" } }), isOnce: false };
}

const dropUndefined = (input: Fields): Fields =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

function assertValidInput(operation: Operation, input: Fields, kind: BodyKind): void {
  const { fields, required = [], rules = [], jsonRules = [], formRules = [] } = operation;
  const errors = validateInput({ required: [...pathFields(operation), ...required], properties: fields }, input, [
    ...rules,
    ...(kind === "form" ? formRules : jsonRules),
  ]);
  if (errors.length === 0) return;
  const details = { errors };
  const message = ["The request is invalid. See details.errors.", ...formatFieldErrors(details)].join(" ");
  throw new ValidationError(`${operation.name}: ${message}`, { code: "validation_error", details });
}

function buildQuery(entries: FieldEntries): string {
  const query = new URLSearchParams();
  for (const [field, value] of entries) {
    if (value !== null) query.append(field, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `?${query}` : "";
}

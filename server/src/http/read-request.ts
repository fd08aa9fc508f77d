// Turns a request into the fields that an operation reads, whatever carried them: path, query, JSON or form. What cannot
// be stored or compared safely is refused here, once, for every operation.
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { Fault, type ValidationIssue } from "../faults.ts";
import { isFilePart } from "../kit/files.ts";
import { findInlineImages } from "../kit/image-fields.ts";
import type { BodyKind, Operation } from "../kit/operation.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { coerceTextFields, inputProperties } from "./coerce.ts";
import { MAX_FILE_BYTES, MAX_FORM_FIELD_BYTES, readMultipartForm } from "./multipart.ts";

const MAX_JSON_BYTES = 1024 * 1024;
/** Pictures as base64 may come on top, where an operation takes them. */
const MAX_INLINE_IMAGE_BYTES = 35 * 1024 * 1024;
const MAX_JSON_DEPTH = 32;

export type HttpBindings = { Bindings: { incoming: IncomingMessage } };
export type RequestInput = { raw: JsonObject; body?: BodyKind; discard(): Promise<unknown> };

export async function readRequest(context: Context<HttpBindings>, operation: Operation): Promise<RequestInput> {
  const params = context.req.param() as JsonObject;
  if (operation.http.bodies === undefined) {
    const raw = coerceTextFields(operation, { ...(readsQueryString(operation) && context.req.query()), ...params });
    rejectUnstorableText(raw);
    return { raw, discard: async () => {} };
  }
  if (context.req.header("content-encoding")) throw new Fault("unsupported_content_encoding");
  const type = (context.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" && operation.http.bodies.includes("json")) {
    const raw = { ...(await readJson(context, acceptsInlineImages(operation))), ...params };
    return { raw, body: "json", discard: async () => {} };
  }
  if (type === "multipart/form-data" && operation.http.bodies.includes("form")) {
    const most = maxFormBytes(operation);
    if (Number(context.req.header("content-length") ?? 0) > most) throw new Fault("payload_too_large");
    const form = await readMultipartForm(context.env.incoming, most);
    try {
      const raw = { ...coerceTextFields(operation, form.fields), ...params };
      rejectUnstorableText(raw);
      return { raw, body: "form", discard: form.discard };
    } catch (thrown) {
      await form.discard();
      throw thrown;
    }
  }
  throw new Fault("unsupported_media_type", { accepted: operation.http.bodies });
}

/** Where the path says it all, the query of anything but a GET is left unread. */
const readsQueryString = ({ http, input }: Operation) =>
  http.method === "GET" || Object.keys(input.shape).some((field) => !http.path.split("/").includes(`:${field}`));

const inlineTakers = new WeakMap<Operation, boolean>();

function acceptsInlineImages(operation: Operation): boolean {
  const known = inlineTakers.get(operation) ?? JSON.stringify(inputProperties(operation)).includes('"x-inline":true');
  inlineTakers.set(operation, known);
  return known;
}

/** As many files as the operation has places for, all its fields, and what stands between the parts. */
function maxFormBytes(operation: Operation): number {
  const places = Object.values(inputProperties(operation) as Record<string, FileField>).map((field) => {
    if (field.items) return isForFile(field.items) ? (field.maxItems ?? 1) : 0;
    return isForFile(field) ? 1 : 0;
  });
  const files = places.reduce((sum, count) => sum + count, 0);
  return files * MAX_FILE_BYTES + MAX_FORM_FIELD_BYTES + BETWEEN_PARTS_BYTES;
}

type FileField = { format?: string; "x-inline"?: boolean; items?: FileField; maxItems?: number };
const isForFile = (place: FileField) => place.format === "binary" || place["x-inline"] === true;
const BETWEEN_PARTS_BYTES = 64 * 1024;

async function readJson(context: Context<HttpBindings>, mayBeInline: boolean): Promise<JsonObject> {
  const most = mayBeInline ? MAX_INLINE_IMAGE_BYTES : MAX_JSON_BYTES;
  if (Number(context.req.header("content-length") ?? 0) > most) throw new Fault("payload_too_large");
  const bytes = await readBytes(context, most);
  const size = bytes.length;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (thrown) {
    throw new Fault("invalid_json", {}, { cause: thrown });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Fault("invalid_json", { reason: "not_an_object" });
  }
  rejectUnstorableText(value as JsonObject);
  if (size > MAX_JSON_BYTES && size - inlineSize(value as JsonObject) > MAX_JSON_BYTES)
    throw new Fault("payload_too_large");
  return value as JsonObject;
}

async function readBytes(context: Context<HttpBindings>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of context.req.raw.body ?? []) {
      size += chunk.length;
      if (size > most) throw new Fault("payload_too_large");
      chunks.push(chunk);
    }
  } catch (thrown) {
    // Whoever hung up in the middle, or was hung up on, has not found a fault of ours.
    throw thrown instanceof Fault ? thrown : new Fault("request_timeout", {}, { cause: thrown });
  }
  return Buffer.concat(chunks);
}

const inlineSize = (value: JsonObject) =>
  findInlineImages(value).reduce((sum, { value: each }) => sum + String(each).length, 0);

/** Lone surrogates and NUL cannot be stored as text; `__proto__` must never become a key; depth is bounded. */
function rejectUnstorableText(raw: JsonObject): void {
  const issues: ValidationIssue[] = [];
  const walk = (value: unknown, path: string, depth: number): void => {
    if (depth > MAX_JSON_DEPTH) throw new Fault("invalid_json", { reason: "too_deep" });
    if (typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))) {
      issues.push({ path, code: "invalid_unicode", message: "Not well-formed text." });
    }
    if (value === null || typeof value !== "object" || isFilePart(value)) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === "__proto__" || key.includes("\0")) throw new Fault("invalid_json", { reason: "forbidden_key" });
      walk(each, `${path}/${key}`, depth + 1);
    }
  };
  walk(raw, "", 0);
  if (issues.length > 0) throw new Fault("validation_error", { errors: issues });
}

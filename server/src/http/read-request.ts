// Reads the input fields of an operation from path, query, JSON or form body. Text that cannot be stored or compared
// safely is refused here, for every operation.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import { isFilePart } from "../contract/files.ts";
import { findInlineImages } from "../contract/image-fields.ts";
import type { BodyKind, Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { Fault, type ValidationIssue } from "../faults/faults.ts";
import type { BodyAdmission } from "./admission.ts";
import { createJsonScanner } from "./bodies/json-scanner.ts";
import { MAX_FILE_BYTES, MAX_FORM_FIELD_BYTES, readMultipartForm } from "./bodies/multipart.ts";
import { createTextCollector } from "./bodies/text-collector.ts";
import { coerceTextFields, inputProperties } from "./coerce.ts";

const MAX_JSON_BYTES = 1024 * 1024;
/** For operations with inline images: base64 images may exceed the JSON limit. */
const MAX_INLINE_IMAGE_BYTES = 35 * 1024 * 1024;
const MAX_JSON_DEPTH = 32;
/** The largest request that an operation accepts has a few hundred values. */
const MAX_JSON_VALUES = 20_000;

export type HttpBindings = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } };
export type RequestInput = { raw: JsonObject; body?: BodyKind; discard(): Promise<unknown> };

/** `admission` counts the bytes of a JSON body and decides when it is parsed. Files of forms are on disk. */
export async function readRequest(
  context: Context<HttpBindings>,
  operation: Operation,
  admission: BodyAdmission,
): Promise<RequestInput> {
  const params = context.req.param() as JsonObject;
  if (operation.http.bodies === undefined) {
    const query = readsQueryString(operation) ? readQuery(context.req.url) : {};
    const raw = coerceTextFields(operation, { ...query, ...params });
    rejectUnstorableText(raw);
    return { raw, discard: async () => {} };
  }
  const { raw, body, discard } = await readBody(context, bodyRulesOf(operation), admission);
  if (body === "json") return { raw: { ...raw, ...params }, body, discard };
  try {
    const fields = { ...coerceTextFields(operation, raw), ...params };
    rejectUnstorableText(fields);
    return { raw: fields, body, discard };
  } catch (thrown) {
    await discard();
    throw thrown;
  }
}

/** `acceptsInline`: images may be in the body as base64. `maxFiles`: of a form. */
export type BodyRules = {
  bodies: readonly BodyKind[];
  acceptsInline: boolean;
  maxFormBytes: number;
  maxFiles?: number;
};

const bodyRulesOf = (operation: Operation): BodyRules => ({
  bodies: operation.http.bodies ?? [],
  acceptsInline: acceptsInlineImages(operation),
  maxFormBytes: maxFormBytes(operation),
});

/** Reads a JSON body or a form. The texts of a form are neither coerced nor checked yet. */
export async function readBody(
  context: Context<HttpBindings>,
  { bodies, acceptsInline, maxFormBytes: maxBytes, maxFiles }: BodyRules,
  admission: BodyAdmission,
): Promise<{ raw: JsonObject; body: BodyKind; discard(): Promise<unknown> }> {
  if (context.req.header("content-encoding")) throw new Fault("unsupported_content_encoding");
  const type = (context.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" && bodies.includes("json")) {
    return { raw: await readJson(context, acceptsInline, admission), body: "json", discard: async () => {} };
  }
  if (type === "multipart/form-data" && bodies.includes("form")) {
    if (Number(context.req.header("content-length") ?? 0) > maxBytes) throw new Fault("payload_too_large");
    const { add: count, release } = admission.reserveForm();
    const limits = { maxBytes, maxFiles, count };
    const form = await readMultipartForm(context.env.incoming, admission.clock, limits).catch((thrown) => {
      release();
      throw thrown;
    });
    return { raw: form.fields, body: "form", discard: () => form.discard().finally(release) };
  }
  throw new Fault("unsupported_media_type", { accepted: bodies });
}

/** The query string is read for GET, and for other methods if a field is not in the path. */
const readsQueryString = ({ http, input }: Operation) =>
  http.method === "GET" || Object.keys(input.shape).some((field) => !http.path.split("/").includes(`:${field}`));

/** A repeated name is a list, so that validation refuses it where the operation expects a single value. */
function readQuery(url: string): JsonObject {
  const { searchParams } = new URL(url);
  const names = new Set(searchParams.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

const acceptsInlineByOperation = new WeakMap<Operation, boolean>();

function acceptsInlineImages(operation: Operation): boolean {
  const acceptsInline =
    acceptsInlineByOperation.get(operation) ?? JSON.stringify(inputProperties(operation)).includes('"x-inline":true');
  acceptsInlineByOperation.set(operation, acceptsInline);
  return acceptsInline;
}

/** Limit of a form: the files that the operation accepts, all fields, and the part headers. */
function maxFormBytes(operation: Operation): number {
  const fileCounts = Object.values(inputProperties(operation) as Record<string, FileField>).map((field) => {
    if (field.items) return isForFile(field.items) ? (field.maxItems ?? 1) : 0;
    return isForFile(field) ? 1 : 0;
  });
  return formBytesWithFiles(fileCounts.reduce((sum, count) => sum + count, 0));
}

export const formBytesWithFiles = (files: number): number =>
  files * MAX_FILE_BYTES + MAX_FORM_FIELD_BYTES + PART_HEADER_BYTES;

type FileField = { format?: string; "x-inline"?: boolean; items?: FileField; maxItems?: number };
const isForFile = (field: FileField) => field.format === "binary" || field["x-inline"] === true;
const PART_HEADER_BYTES = 64 * 1024;

/** Reads a JSON object. `mayBeInline`: base64 images in it do not count towards the limit of 1 MiB. */
export async function readJson(
  context: Context<HttpBindings>,
  mayBeInline: boolean,
  admission: BodyAdmission,
): Promise<JsonObject> {
  const maxBytes = mayBeInline ? MAX_INLINE_IMAGE_BYTES : MAX_JSON_BYTES;
  if (Number(context.req.header("content-length") ?? 0) > maxBytes) throw new Fault("payload_too_large");
  const { text, size } = await readText(context, maxBytes, admission);
  await admission.beginParsing(size);
  let value: unknown;
  try {
    value = JSON.parse(text);
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

/**
 * A body that the scanner or the budget refuses is read to its end and discarded: the client gets its response, which
 * it would miss if the connection were closed while it still sends.
 */
async function readText(
  context: Context<HttpBindings>,
  maxBytes: number,
  admission: BodyAdmission,
): Promise<{ text: string; size: number }> {
  const scan = createJsonScanner({ maxPlainBytes: MAX_JSON_BYTES, maxValues: MAX_JSON_VALUES });
  const collected = createTextCollector();
  let size = 0;
  let refusal: Fault | undefined;
  try {
    for await (const chunk of context.req.raw.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new Fault("payload_too_large");
      refusal ??= scan(chunk) ?? admission.add(chunk.length) ?? collected.add(chunk);
      if (refusal) collected.discard();
    }
  } catch (thrown) {
    // The client closed the connection, or was disconnected: this is not an error of the server.
    throw thrown instanceof Fault ? thrown : new Fault("request_timeout", {}, { cause: thrown });
  }
  if (refusal) throw refusal;
  return { text: collected.end(), size };
}

const inlineSize = (value: JsonObject) =>
  findInlineImages(value).reduce((sum, { value: each }) => sum + String(each).length, 0);

/** Lone surrogates and NUL cannot be stored as text; `__proto__` must never become a key; depth is bounded. */
export function rejectUnstorableText(raw: JsonObject): void {
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

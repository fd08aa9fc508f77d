// Turns a request into the fields that an operation reads, whatever carried them: path, query, JSON or form. What cannot
// be stored or compared safely is refused here, once, for every operation.
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { Fault, type Issue } from "../faults.ts";
import { isFilePart } from "../kit/files.ts";
import { findInline } from "../kit/images.ts";
import type { Body, Operation } from "../kit/operation.ts";
import type { Json } from "../kit/shapes.ts";
import { coerce, propertiesOf } from "./coerce.ts";
import { MOST_FIELD_BYTES, MOST_FILE_BYTES, readForm } from "./multipart.ts";

const MOST_JSON_BYTES = 1024 * 1024;
/** Pictures as base64 may come on top, where an operation takes them. */
const MOST_INLINE_BYTES = 35 * 1024 * 1024;
const DEEPEST_JSON = 32;

export type Bindings = { Bindings: { incoming: IncomingMessage } };
export type Read = { raw: Json; body?: Body; discard(): Promise<unknown> };

export async function readRequest(context: Context<Bindings>, operation: Operation): Promise<Read> {
  const params = context.req.param() as Json;
  if (operation.http.bodies === undefined) {
    const raw = coerce(operation, { ...(takesQuery(operation) && context.req.query()), ...params });
    refuseUnstorable(raw);
    return { raw, discard: async () => {} };
  }
  if (context.req.header("content-encoding")) throw new Fault("unsupported_content_encoding");
  const type = (context.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" && operation.http.bodies.includes("json")) {
    const raw = { ...(await readJson(context, takesInline(operation))), ...params };
    return { raw, body: "json", discard: async () => {} };
  }
  if (type === "multipart/form-data" && operation.http.bodies.includes("form")) {
    const most = mostFormBytes(operation);
    if (Number(context.req.header("content-length") ?? 0) > most) throw new Fault("payload_too_large");
    const form = await readForm(context.env.incoming, most);
    try {
      const raw = { ...coerce(operation, form.fields), ...params };
      refuseUnstorable(raw);
      return { raw, body: "form", discard: form.discard };
    } catch (thrown) {
      await form.discard();
      throw thrown;
    }
  }
  throw new Fault("unsupported_media_type", { accepted: operation.http.bodies });
}

/** Where the path says it all, the query of anything but a GET is left unread. */
const takesQuery = ({ http, input }: Operation) =>
  http.method === "GET" || Object.keys(input.shape).some((field) => !http.path.split("/").includes(`:${field}`));

const inlineTakers = new WeakMap<Operation, boolean>();

function takesInline(operation: Operation): boolean {
  const known = inlineTakers.get(operation) ?? JSON.stringify(propertiesOf(operation)).includes('"x-inline":true');
  inlineTakers.set(operation, known);
  return known;
}

/** As many files as the operation has places for, all its fields, and what stands between the parts. */
function mostFormBytes(operation: Operation): number {
  const places = Object.values(propertiesOf(operation) as Record<string, Place>).map((field) => {
    if (field.items) return isForFile(field.items) ? (field.maxItems ?? 1) : 0;
    return isForFile(field) ? 1 : 0;
  });
  const files = places.reduce((sum, count) => sum + count, 0);
  return files * MOST_FILE_BYTES + MOST_FIELD_BYTES + BETWEEN_PARTS_BYTES;
}

type Place = { format?: string; "x-inline"?: boolean; items?: Place; maxItems?: number };
const isForFile = (place: Place) => place.format === "binary" || place["x-inline"] === true;
const BETWEEN_PARTS_BYTES = 64 * 1024;

async function readJson(context: Context<Bindings>, mayBeInline: boolean): Promise<Json> {
  const most = mayBeInline ? MOST_INLINE_BYTES : MOST_JSON_BYTES;
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
  refuseUnstorable(value as Json);
  if (size > MOST_JSON_BYTES && size - inlineSize(value as Json) > MOST_JSON_BYTES)
    throw new Fault("payload_too_large");
  return value as Json;
}

async function readBytes(context: Context<Bindings>, most: number): Promise<Buffer> {
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

const inlineSize = (value: Json) => findInline(value).reduce((sum, { value: each }) => sum + String(each).length, 0);

/** Lone surrogates and NUL cannot be stored as text; `__proto__` must never become a key; depth is bounded. */
function refuseUnstorable(raw: Json): void {
  const issues: Issue[] = [];
  const walk = (value: unknown, path: string, depth: number): void => {
    if (depth > DEEPEST_JSON) throw new Fault("invalid_json", { reason: "too_deep" });
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

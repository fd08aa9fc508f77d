// Builds the input of an imported model from the values on the command line. Where its schema has a file, a local file
// becomes a data URL, so that the request contains it; URLs and runs stay as they are.
import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import type { ImportedModel } from "@gesso/client";
import { InvalidArgumentError } from "commander";
import { commandError } from "../exit-codes.ts";
import { parseFieldValue } from "../field-flags.ts";
import { parseImageArgument } from "../image-argument.ts";
import { listModelFields, type ModelField } from "./schema-fields.ts";

type Input = Record<string, unknown>;

/** Longer texts are base64, not paths. */
const MAX_PATH = 1024;
/** Gesso refuses larger requests. */
const MAX_FILE_BYTES = 25 * 1024 * 1024;

const MEDIA_TYPES: Record<string, string> = {
  ...{ ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif" },
  ...{ ".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm" },
  ...{ ".wav": "audio/wav", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4" },
  ...{ ".glb": "model/gltf-binary", ".zip": "application/zip", ".json": "application/json", ".txt": "text/plain" },
};

const isObject = (value: unknown): value is Input =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One value of a field. Throws InvalidArgumentError. */
export function parseModelValue(field: ModelField, text: string): unknown {
  const looksLikeJson = /^\s*[[{@]/.test(text);
  if (field.file !== undefined) {
    if (/^\s*\{/.test(text)) return parseFieldValue({ name: field.name, type: "object" }, text);
    return field.isUrlObject ? { url: text } : text;
  }
  if (field.takesJson && looksLikeJson) return parseFieldValue({ name: field.name, type: "object" }, text);
  return parseFieldValue(field, text);
}

/** Values of `-i name=value`. A list is one JSON value, or one value for each `-i`. */
export function readNamedValues(model: ImportedModel, given: readonly string[]): Input {
  const fields = listModelFields(model);
  const input: Input = {};
  for (const text of given) {
    const at = text.indexOf("=");
    if (at < 1) throw commandError("usage", `Write a field as name=value, not ${text}.`);
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    const field = fields.find((each) => each.name === name);
    if (!field) {
      const known = fields.map((each) => each.name).join(", ");
      throw commandError("usage", `${model.name} has no field ${name}. Its fields: ${known}.`);
    }
    const isWholeList = field.isList && /^\s*\[/.test(value);
    const parsed = parseNamed({ ...field, ...(isWholeList && { takesJson: true, file: undefined as never }) }, value);
    input[name] = field.isList && !isWholeList ? [...((input[name] as unknown[]) ?? []), parsed] : parsed;
  }
  return input;
}

function parseNamed(field: ModelField, value: string): unknown {
  try {
    return parseModelValue(field, value);
  } catch (thrown) {
    if (!(thrown instanceof InvalidArgumentError)) throw thrown;
    throw commandError("usage", `${field.name}: ${thrown.message}`);
  }
}

/** `--input`: JSON, or a file with JSON. */
export function readInputDocument(text: string): Input {
  const isInline = /^\s*\{/.test(text);
  let content = text;
  try {
    if (!isInline) content = readFileSync(text === "-" ? 0 : text.replace(/^@/, ""), "utf8");
    const value: unknown = JSON.parse(content);
    if (isObject(value)) return value;
  } catch (thrown) {
    throw commandError("usage", `--input takes a file with JSON, or JSON: ${(thrown as Error).message}.`);
  }
  throw commandError("usage", "--input takes a JSON object with the fields of the model.");
}

/** Reads the local files at the places where the schema has files. */
export async function attachFiles(input: Input, files: ImportedModel["files"]["input"]): Promise<Input> {
  let attached: unknown = input;
  for (const { pointer } of files) attached = await replaceTexts(attached, pointer.split("/").slice(1));
  return attached as Input;
}

async function replaceTexts(value: unknown, [part, ...rest]: string[]): Promise<unknown> {
  if (part === undefined) return typeof value === "string" && value !== "" ? toFile(value) : value;
  if (part === "*" && Array.isArray(value)) return Promise.all(value.map((each) => replaceTexts(each, rest)));
  if (!isObject(value) || Object.hasOwn(value, "run_id")) return value;
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  const entries = Object.entries(value).map(async ([name, each]) =>
    part === "*" || name === key ? [name, await replaceTexts(each, rest)] : [name, each],
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function toFile(text: string): Promise<unknown> {
  if (text.length > MAX_PATH || /^data:/i.test(text)) return text;
  const found = await parseImageArgument(text);
  if (found.kind === "url") return found.url;
  if (found.kind === "run")
    return { run_id: found.runId, ...(found.outputIndex !== undefined && { output_index: found.outputIndex }) };
  return toDataUrl(found.path);
}

function toDataUrl(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_FILE_BYTES)
    throw commandError("usage", `${path} has more than ${MAX_FILE_BYTES / 1024 ** 2} MB. Pass a URL instead.`);
  const type = MEDIA_TYPES[extname(path).toLowerCase()] ?? "application/octet-stream";
  return `data:${type};base64,${readFileSync(path).toString("base64")}`;
}

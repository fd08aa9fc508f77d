// Reads a form as it streams in: fields into memory within bounds, files into temporary files, never more than allowed.
import { createHash } from "node:crypto";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { Fault, type ValidationIssue } from "../faults.ts";
import { createFilePart, type FilePart } from "../kit/files.ts";
import type { JsonObject } from "../kit/schemas/run.ts";

export const MAX_FILE_BYTES = 25 * 1024 * 1024;
/** All fields together; a field alone may have half of it. */
export const MAX_FORM_FIELD_BYTES = 2 * 1024 * 1024;
const MOST_NAME_BYTES = 100;
const PARSER_STALL_MS = 5000;
const BLOCK_BYTES = 64 * 1024;
const LIMITS = {
  ...{ fieldSize: MAX_FORM_FIELD_BYTES / 2, fields: 64, files: 12, parts: 76 },
  ...{ headerPairs: 20, headerSize: 8 * 1024 },
};

const UNREADABLE = { path: "", code: "invalid_type", message: "Malformed multipart form." };
const NAMELESS = { path: "", code: "invalid_type", message: "Every part has a name of 1 to 100 bytes." };

export type MultipartForm = { fields: JsonObject; discard(): Promise<unknown> };

/** `mostBytes` is for the whole body: nobody may send for ever what is thrown away. */
export async function readMultipartForm(incoming: IncomingMessage, mostBytes: number): Promise<MultipartForm> {
  let made: Promise<string> | undefined;
  const folder = () => {
    made ??= mkdtemp(join(tmpdir(), "gesso-form-"));
    return made;
  };
  const discard = async () => made && rm(await made, { recursive: true, force: true });
  try {
    return { fields: await parseMultipart(incoming, folder, mostBytes), discard };
  } catch (thrown) {
    await discard();
    // What is left of the body is read and thrown away, so that the answer can be heard.
    incoming.resume();
    throw thrown;
  }
}

type FormPart = { name: string; value: unknown };

function parseMultipart(
  incoming: IncomingMessage,
  folder: () => Promise<string>,
  mostBytes: number,
): Promise<JsonObject> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const parts: FormPart[] = [];
  const files: Promise<void>[] = [];
  // A file that will never end must not stay open.
  const stop = new AbortController();
  const busboy = openBusboy(incoming);
  const fail = (thrown: unknown) => {
    incoming.unpipe(busboy);
    stop.abort();
    const fault = thrown instanceof Fault ? thrown : unreadable(UNREADABLE, thrown);
    // Only when its files are closed may their folder go.
    Promise.allSettled(files).then(() => reject(fault), reject);
  };
  /** A file is known only when it has been read, but its place among the parts is that of its beginning. */
  const add = (name: string | undefined, value?: unknown): FormPart => {
    if (!name || Buffer.byteLength(name) > MOST_NAME_BYTES) fail(unreadable(NAMELESS));
    const part = { name: name ?? "", value };
    parts.push(part);
    return part;
  };
  let fieldBytes = 0;
  busboy.on("field", (name, value, _nameCut, valueCut) => {
    fieldBytes += value.length;
    if (valueCut || fieldBytes > MAX_FORM_FIELD_BYTES) return fail(new Fault("payload_too_large"));
    add(name, value);
  });
  busboy.on("file", (name, stream, filename) => {
    const part = add(name);
    stream.on("limit", () => fail(new Fault("payload_too_large")));
    const number = String(files.length);
    const place = { filename: filename ?? "", path: async () => join(await folder(), number) };
    const kept = writeTemporaryFile(addAbortSignal(stop.signal, stream), place).then((file) => {
      part.value = file;
    });
    kept.catch(fail);
    files.push(kept);
  });
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
    busboy.on(limit, () => fail(new Fault("too_many_parts")));
  }
  busboy.on("error", fail);
  busboy.on("finish", () => Promise.all(files).then(() => resolve(groupByName(parts)), fail));
  incoming.on("aborted", () => fail(new Fault("request_timeout")));
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) fail(new Fault("payload_too_large"));
  });
  // With some malformed forms the parser waits for another part after the body has ended: fail after 5 s.
  let lost: NodeJS.Timeout | undefined;
  incoming.once("end", () => {
    lost = setTimeout(() => fail(unreadable(UNREADABLE)), PARSER_STALL_MS);
  });
  incoming.pipe(busboy);
  return promise.finally(() => clearTimeout(lost));
}

const unreadable = (issue: ValidationIssue, cause?: unknown) =>
  new Fault("validation_error", { errors: [issue] }, { cause });

/** A repeated name is a list, as it is in HTML forms. */
function groupByName(parts: FormPart[]): JsonObject {
  const fields: JsonObject = Object.create(null);
  for (const { name, value } of parts) fields[name] = name in fields ? [fields[name], value].flat() : value;
  return { ...fields };
}

function openBusboy(incoming: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...incoming.headers, "content-type": incoming.headers["content-type"] ?? "" },
      limits: { ...LIMITS, fileSize: MAX_FILE_BYTES },
    });
  } catch (thrown) {
    throw new Fault("unsupported_media_type", {}, { cause: thrown });
  }
}

type TemporaryFile = { filename: string; path(): Promise<string> };

/** Creates the temporary file only with the first block, so an upload that sends no data costs no file. */
async function writeTemporaryFile(stream: BusboyFileStream, { filename, path }: TemporaryFile): Promise<FilePart> {
  const hash = createHash("sha256");
  let size_bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const block of inBlocks(stream)) {
      hash.update(block);
      size_bytes += block.length;
      file ??= await open(await path(), "wx");
      await file.appendFile(block);
    }
  } finally {
    await file?.close();
  }
  return createFilePart({ path: await path(), filename, size_bytes, sha256: hash.digest("hex") });
}

/** The last block may be empty, so that an empty file is a file too. */
async function* inBlocks(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    held.push(chunk);
    size += chunk.length;
    if (size < BLOCK_BYTES) continue;
    yield Buffer.concat(held);
    [held, size] = [[], 0];
  }
  yield Buffer.concat(held);
}

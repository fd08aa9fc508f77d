// Parses a multipart form while it streams in: fields into memory, files into temporary files, both within limits.
import { createHash } from "node:crypto";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { createFilePart, type FilePart } from "../../contract/files.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";

export const MAX_FILE_BYTES = 25 * 1024 * 1024;
/** For all fields together; a single field may have half of it. */
export const MAX_FORM_FIELD_BYTES = 2 * 1024 * 1024;
const MAX_NAME_BYTES = 100;
const PARSER_STALL_MS = 5000;
const BLOCK_BYTES = 64 * 1024;
const MAX_FIELDS = 64;
const DEFAULT_MAX_FILES = 12;
const LIMITS = { fieldSize: MAX_FORM_FIELD_BYTES / 2, fields: MAX_FIELDS, headerPairs: 20, headerSize: 8 * 1024 };

const UNREADABLE = { path: "", code: "invalid_type", message: "Malformed multipart form." };
const NAMELESS = { path: "", code: "invalid_type", message: "Every part must have a name of 1 to 100 bytes." };

export type MultipartForm = { fields: JsonObject; discard(): Promise<unknown> };

/**
 * `maxBytes` limits the whole body, including parts that are ignored. `count` gets the bytes that arrive, and returns a
 * fault if there is no space for them.
 */
export type FormLimits = { maxBytes: number; maxFiles?: number | undefined; count?(bytes: number): Fault | undefined };

export async function readMultipartForm(
  incoming: IncomingMessage,
  clock: Pick<Clock, "after">,
  limits: FormLimits,
): Promise<MultipartForm> {
  let createdFolder: Promise<string> | undefined;
  const folder = () => {
    createdFolder ??= mkdtemp(join(tmpdir(), "gesso-form-"));
    return createdFolder;
  };
  const discard = async () => createdFolder && rm(await createdFolder, { recursive: true, force: true });
  try {
    return { fields: await parseMultipart(incoming, folder, { ...limits, clock }), discard };
  } catch (thrown) {
    await discard();
    // Drain the rest of the body, so that the client can read the response.
    incoming.resume();
    throw thrown;
  }
}

type FormPart = { name: string; value: unknown };

function parseMultipart(
  incoming: IncomingMessage,
  folder: () => Promise<string>,
  { maxBytes, maxFiles = DEFAULT_MAX_FILES, count, clock }: FormLimits & { clock: Pick<Clock, "after"> },
): Promise<JsonObject> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const parts: FormPart[] = [];
  const files: Promise<void>[] = [];
  // Closes temporary files that will never be complete.
  const stop = new AbortController();
  const busboy = openBusboy(incoming, maxFiles);
  const fail = (thrown: unknown) => {
    incoming.unpipe(busboy);
    stop.abort();
    const fault = thrown instanceof Fault ? thrown : unreadable(UNREADABLE, thrown);
    // Wait until all files are closed, because the folder is removed next.
    Promise.allSettled(files).then(() => reject(fault), reject);
  };
  /** A file part is added when it begins, to keep the order of parts; its value is set when it has been read. */
  const add = (name: string | undefined, value?: unknown): FormPart => {
    if (!name || Buffer.byteLength(name) > MAX_NAME_BYTES) fail(unreadable(NAMELESS));
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
    const fileName = String(files.length);
    const target = { filename: filename ?? "", path: async () => join(await folder(), fileName) };
    const writing = writeTemporaryFile(addAbortSignal(stop.signal, stream), target).then((file) => {
      part.value = file;
    });
    writing.catch(fail);
    files.push(writing);
  });
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
    busboy.on(limit, () => fail(new Fault("too_many_parts", { max_fields: MAX_FIELDS, max_files: maxFiles })));
  }
  busboy.on("error", fail);
  busboy.on("finish", () => Promise.all(files).then(() => resolve(groupByName(parts)), fail));
  incoming.on("aborted", () => fail(new Fault("request_timeout")));
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    const refusal = bytes > maxBytes ? new Fault("payload_too_large") : count?.(chunk.length);
    if (refusal) fail(refusal);
  });
  // With some malformed forms the parser waits for another part after the body has ended: fail after 5 s.
  let stallTimer: Timer | undefined;
  incoming.once("end", () => {
    stallTimer = clock.after(PARSER_STALL_MS, () => fail(unreadable(UNREADABLE)));
  });
  incoming.pipe(busboy);
  return promise.finally(() => stallTimer?.stop());
}

const unreadable = (issue: ValidationIssue, cause?: unknown) =>
  new Fault("validation_error", { errors: [issue] }, { cause });

/** Fields with the same name become a list, as in HTML forms. */
function groupByName(parts: FormPart[]): JsonObject {
  const fields: JsonObject = Object.create(null);
  for (const { name, value } of parts) fields[name] = name in fields ? [fields[name], value].flat() : value;
  return { ...fields };
}

function openBusboy(incoming: IncomingMessage, files: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...incoming.headers, "content-type": incoming.headers["content-type"] ?? "" },
      limits: { ...LIMITS, files, parts: MAX_FIELDS + files, fileSize: MAX_FILE_BYTES },
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

/** Yields at least one block, possibly empty, so that an empty file is created too. */
async function* inBlocks(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    buffered.push(chunk);
    size += chunk.length;
    if (size < BLOCK_BYTES) continue;
    yield Buffer.concat(buffered);
    [buffered, size] = [[], 0];
  }
  yield Buffer.concat(buffered);
}

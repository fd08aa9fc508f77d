// Reads a form as it streams in: fields into memory within bounds, files into temporary files, never more than allowed.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { Fault } from "../faults.ts";
import { type FilePart, filePart } from "../kit/files.ts";
import type { Json } from "../kit/shapes.ts";

const MOST_FILE_BYTES = 25 * 1024 * 1024;
const LIMITS = { fieldSize: 1024 * 1024, fields: 64, files: 12, parts: 76, fieldNameSize: 100, headerPairs: 32 };

const UNREADABLE = { path: "", code: "invalid_type", message: "The form cannot be read." };

export type Form = { fields: Json; discard(): Promise<void> };

export async function readForm(incoming: IncomingMessage): Promise<Form> {
  const folder = await mkdtemp(join(tmpdir(), "gesso-form-"));
  const discard = () => rm(folder, { recursive: true, force: true });
  try {
    return { fields: await parse(incoming, folder), discard };
  } catch (thrown) {
    await discard();
    // What is left of the body is read and thrown away, so that the answer can be heard.
    incoming.resume();
    throw thrown;
  }
}

function parse(incoming: IncomingMessage, folder: string): Promise<Json> {
  return new Promise((resolve, reject) => {
    const parts: { name: string; value: unknown }[] = [];
    const files: Promise<void>[] = [];
    const fail = (thrown: unknown) => {
      incoming.unpipe(busboy);
      reject(
        thrown instanceof Fault ? thrown : new Fault("validation_error", { errors: [UNREADABLE] }, { cause: thrown }),
      );
    };
    /** A file is known only when it has been read, but its place among the parts is that of its beginning. */
    const add = (name: string, value?: unknown) => {
      const part = { name, value };
      parts.push(part);
      return part;
    };
    const busboy = openBusboy(incoming);
    busboy.on("field", (name, value, _nameCut, valueCut) => {
      if (valueCut) return fail(new Fault("payload_too_large"));
      add(name, value);
    });
    busboy.on("file", (name, stream, filename) => {
      const part = add(name);
      const kept = keep(stream, join(folder, String(files.length)), filename ?? "").then((file) => {
        part.value = file;
      });
      kept.catch(fail);
      files.push(kept);
    });
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      busboy.on(limit, () => fail(new Fault("too_many_parts")));
    }
    busboy.on("error", fail);
    busboy.on("finish", () => Promise.all(files).then(() => resolve(gather(parts)), fail));
    incoming.on("aborted", () => fail(new Fault("request_timeout")));
    incoming.pipe(busboy);
  });
}

/** A repeated name is a list, as it is in HTML forms. */
function gather(parts: { name: string; value: unknown }[]): Json {
  const fields: Json = Object.create(null);
  for (const { name, value } of parts) fields[name] = name in fields ? [fields[name], value].flat() : value;
  return { ...fields };
}

function openBusboy(incoming: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...incoming.headers, "content-type": incoming.headers["content-type"] ?? "" },
      limits: { ...LIMITS, fileSize: MOST_FILE_BYTES + 1 },
    });
  } catch (thrown) {
    throw new Fault("unsupported_media_type", {}, { cause: thrown });
  }
}

async function keep(stream: BusboyFileStream, path: string, filename: string): Promise<FilePart> {
  const hash = createHash("sha256");
  let size_bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    size_bytes += chunk.length;
  });
  await pipeline(stream, createWriteStream(path));
  if (stream.truncated || size_bytes > MOST_FILE_BYTES) throw new Fault("payload_too_large");
  return filePart({ path, filename, size_bytes, sha256: hash.digest("hex") });
}

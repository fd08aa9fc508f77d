// Image sources and their conversion to form parts. A source that can be read twice stays so, because the request may
// be retried.
import { ValidationError } from "./errors.ts";
import { loadFileSystem } from "./runtime.ts";

/** Bytes in any form the platform supports. A `Buffer` is a `Uint8Array`, `fs.createReadStream()` is iterable. */
export type FileSource =
  | Blob
  | ArrayBuffer
  | Uint8Array
  | Response
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | LocalFile
  | Promise<Response>;

/** A run, optionally with the index of its output (default: 0) and, if that is a video, the frame to use. */
export type RunReference = { run_id: string; output_index?: number; frame?: "first" | "last" };

/** An image: a URL, base64 or a run ID as a string; a file, which is uploaded; or a run. */
export type ImageSource = string | FileSource | RunReference;

/** A local file, opened only when it is sent. Created by {@link fromPath}. */
export type LocalFile = { readonly path: string; readonly kind: "local-file" };

/**
 * A local file, for any image field (Node.js, Bun, Deno).
 * @example await client.images.describe({ image_url: fromPath("desk.png") })
 */
export const fromPath = (path: string): LocalFile => ({ path, kind: "local-file" });

/** A file as a part of a form. `stream` can be read only once. */
export type FormPart = { name: string; blob?: Blob; stream?: AsyncIterable<Uint8Array | string> };

const isLocalFile = (value: object): value is LocalFile => (value as LocalFile).kind === "local-file";
export const isRunReference = (value: unknown): value is RunReference =>
  typeof value === "object" && value !== null && typeof (value as { run_id?: unknown }).run_id === "string";

/** Whether a value of an image field must be sent as bytes. */
export const isFile = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRunReference(value);

export async function toFormPart(given: FileSource | string): Promise<FormPart> {
  const source = await given;
  if (typeof source === "string") return toFormPart(fromPath(source));
  if (source instanceof Blob) return { name: (source as File).name ?? fileName(source.type), blob: source };
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) {
    return { name: "image", blob: new Blob([source as Uint8Array<ArrayBuffer>]) };
  }
  if (source instanceof Response) {
    if (!source.ok)
      throw new ValidationError(`Cannot read the source ${source.url}: it returned HTTP ${source.status}.`);
    return { name: source.url.split(/[?#]/)[0]?.split("/").at(-1) || "image", blob: await source.blob() };
  }
  if (isLocalFile(source)) {
    const { openAsBlob } = await loadFileSystem();
    const blob = await openAsBlob(source.path);
    return { name: source.path.split(/[\\/]/).at(-1) ?? "image", blob };
  }
  if (Symbol.asyncIterator in source) return { name: streamName(source), stream: source };
  return { name: "image", stream: readChunks(source as ReadableStream<Uint8Array>) };
}

const fileName = (type: string) => `image.${/^image\/(\w+)/.exec(type)?.[1] ?? "bin"}`;

const streamName = (stream: object) =>
  String((stream as { path?: unknown }).path ?? "image")
    .split(/[\\/]/)
    .at(-1) ?? "image";

/** For older browsers, whose streams are not async iterable. */
async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

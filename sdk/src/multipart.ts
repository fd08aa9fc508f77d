// Creates multipart bodies: FormData if all parts can be read twice. With a stream or a progress callback the body is
// written chunk by chunk, so that a large file is never held in memory.
import { canStreamBodies } from "./runtime.ts";
import type { FormPart } from "./sources.ts";

/** Progress of an upload. */
export type UploadProgress = {
  sentBytes: number;
  /** Undefined if the size of a stream is unknown. */
  totalBytes?: number;
};

export type FormBody = {
  body: FormData | ReadableStream<Uint8Array>;
  headers: Record<string, string>;
  /** A stream that has been read cannot be sent again. */
  isSingleUse: boolean;
};

export type FormEntry = [field: string, value: string | FormPart];
type UploadListener = ((progress: UploadProgress) => void) | undefined;

export async function createMultipartBody(entries: FormEntry[], onUpload: UploadListener): Promise<FormBody> {
  const parts = entries.map(([, value]) => value).filter((value) => typeof value !== "string");
  const isOnce = parts.some((part) => part.stream !== undefined);
  if (canStreamBodies() && (isOnce || onUpload)) return streamMultipart(entries, isOnce, onUpload);

  const body = new FormData();
  let totalBytes = 0;
  for (const [field, value] of entries) {
    if (typeof value === "string") body.append(field, value);
    else {
      const blob = value.blob ?? (await collectBlob(value.stream!));
      totalBytes += blob.size;
      body.append(field, blob, value.name);
    }
  }
  onUpload?.({ sentBytes: 0, totalBytes });
  return { body, headers: {}, isSingleUse: false };
}

async function collectBlob(stream: AsyncIterable<Uint8Array | string>): Promise<Blob> {
  const chunks: BlobPart[] = [];
  for await (const chunk of stream) chunks.push(chunk as Uint8Array<ArrayBuffer>);
  return new Blob(chunks);
}

const encode = (text: string) => new TextEncoder().encode(text);
const quoted = (name: string) => name.replace(/[\r\n"]/g, (mark) => encodeURIComponent(mark));

function streamMultipart(entries: FormEntry[], isOnce: boolean, onUpload: UploadListener): FormBody {
  const boundary = `gesso-${crypto.randomUUID()}`;
  const head = (field: string, part?: FormPart) =>
    encode(
      `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(field)}"` +
        (part ? `; filename="${quoted(part.name)}"\r\ncontent-type: application/octet-stream` : "") +
        "\r\n\r\n",
    );
  async function* write(): AsyncGenerator<Uint8Array> {
    for (const [field, value] of entries) {
      yield head(field, typeof value === "string" ? undefined : value);
      if (typeof value === "string") yield encode(value);
      else yield* bytesOf(value);
      yield encode("\r\n");
    }
    yield encode(`--${boundary}--\r\n`);
  }
  const totalBytes = isOnce
    ? undefined
    : entries.reduce((sum, [, value]) => sum + (typeof value === "string" ? 0 : (value.blob?.size ?? 0)), 0);
  return {
    body: toReadableStream(write(), onUpload, totalBytes),
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    isSingleUse: isOnce,
  };
}

async function* bytesOf({ blob, stream }: FormPart): AsyncGenerator<Uint8Array> {
  const source = stream ?? (blob!.stream() as unknown as AsyncIterable<Uint8Array>);
  for await (const chunk of source) yield typeof chunk === "string" ? encode(chunk) : chunk;
}

function toReadableStream(
  chunks: AsyncGenerator<Uint8Array>,
  onUpload: UploadListener,
  totalBytes: number | undefined,
) {
  let sentBytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        controller.enqueue(value);
        sentBytes += value.length;
        const known = totalBytes === undefined ? {} : { totalBytes };
        onUpload?.({ sentBytes: Math.min(sentBytes, totalBytes ?? sentBytes), ...known });
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}

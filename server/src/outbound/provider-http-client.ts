// Sends requests to providers over keep-alive connections and reads whole responses, with limits on time and size.
import { Agent, type Dispatcher, request } from "undici";
import type { Clock } from "../kit/clock.ts";
import { systemClock } from "../kit/system-clock.ts";

export const CONNECTIONS_PER_ORIGIN = 128;
const CONNECT_MS = 5000;
const MAX_RESPONSE_BYTES = 200 * 1024 * 1024;

type Options = {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | FormData | undefined;
  timeoutSeconds: number;
};
type Reply = { status: number; header(name: string): string | undefined; text: string };

export type ProviderHttpClient = { send(url: string, options: Options): Promise<Reply>; close(): Promise<void> };

/** Throws only for connection errors. Every HTTP response is returned, whatever its status. */
export function createProviderHttpClient(clock: Pick<Clock, "after"> = systemClock): ProviderHttpClient {
  const dispatcher = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: { timeout: CONNECT_MS },
    // Each request has its own timeout: synchronous providers respond only when the image is ready.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return {
    async send(url, { method, headers, body, timeoutSeconds }) {
      const limit = new AbortController();
      // Cleared after the response, so that no timer outlives its request.
      const timer = clock.after(timeoutSeconds * 1000, () => limit.abort(new Error("the provider took too long")));
      try {
        const packed = body instanceof FormData ? await encodeForm(body) : { headers: {}, body: body ?? null };
        const response = await request(url, {
          method: method as "POST",
          headers: { ...headers, ...packed.headers },
          body: packed.body,
          dispatcher,
          signal: limit.signal,
        });
        const text = await readText(response.body);
        const header = (name: string) => [response.headers[name.toLowerCase()]].flat()[0];
        return { status: response.statusCode, header, text };
      } finally {
        timer.stop();
      }
    },
    close: () => dispatcher.close(),
  };
}

/** Larger responses get a buffer of their own. */
const MAX_SCRATCH_BYTES = 8 * 1024 * 1024;
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Joins the chunks in a buffer that all responses share. A new buffer of the size of an image for each response lets
 * the garbage collector run after every few dozen of them, which is a third of a worker's CPU time.
 */
async function readText(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.byteLength;
  }
  if (length > MAX_SCRATCH_BYTES) return withoutByteOrderMark(Buffer.concat(chunks, length).toString("utf8"));
  if (length > scratch.byteLength) scratch = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)));
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(scratch, offset);
  return withoutByteOrderMark(scratch.toString("utf8", 0, length));
}

const withoutByteOrderMark = (text: string) => (text.startsWith("\uFEFF") ? text.slice(1) : text);

/** Encodes a FormData as bytes, with the content type that names its boundary. */
async function encodeForm(form: FormData): Promise<{ headers: Record<string, string>; body: Uint8Array }> {
  const packed = new Response(form);
  return {
    headers: { "content-type": packed.headers.get("content-type")! },
    body: new Uint8Array(await packed.arrayBuffer()),
  };
}

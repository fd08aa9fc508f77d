// Sends requests to providers over keep-alive connections and reads whole responses, with limits on time and size. A
// request that fails is marked as unsent if it is certain that none of its bytes was written to a connection.
import { Agent, type Dispatcher, request } from "undici";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { unsentRequest } from "../runtime/unsent-request.ts";

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

/** Whether the request got a connection. undici writes its first bytes right after that. */
type Transmission = { hasStarted: boolean };

/**
 * Throws only for connection errors, with `isUnsentRequest` if the request never got a connection. Every HTTP response
 * is returned, whatever its status.
 */
export function createProviderHttpClient(
  clock: Pick<Clock, "after"> = systemClock,
  { connections = CONNECTIONS_PER_ORIGIN } = {},
): ProviderHttpClient {
  const agent = new Agent({
    connections,
    connect: { timeout: CONNECT_MS },
    // Each request has its own timeout: synchronous providers respond only when the image is ready.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  const dispatcher = agent.compose(watchTransmission);
  return {
    async send(url, { method, headers, body, timeoutSeconds }) {
      const transmission: Transmission = { hasStarted: false };
      const limit = new AbortController();
      const timeout = Promise.withResolvers<never>();
      // Cleared after the response, so that no timer outlives its request.
      const timer = clock.after(timeoutSeconds * 1000, () => {
        const reason = new Error("the provider took too long");
        limit.abort(reason);
        // undici ends a request that waits for a connection only when it gets one. Aborted, it is not written then.
        if (!transmission.hasStarted) timeout.reject(reason);
      });
      const exchange = async () => {
        const packed = body instanceof FormData ? await encodeForm(body) : { headers: {}, body: body ?? null };
        const response = await request(url, {
          method: method as "POST",
          headers: { ...headers, ...packed.headers },
          body: packed.body,
          dispatcher,
          signal: limit.signal,
          opaque: transmission,
        });
        const text = await readText(response.body);
        const header = (name: string) => [response.headers[name.toLowerCase()]].flat()[0];
        return { status: response.statusCode, header, text };
      };
      try {
        return await Promise.race([exchange(), timeout.promise]);
      } catch (thrown) {
        throw transmission.hasStarted ? thrown : unsentRequest(thrown);
      } finally {
        timer.stop();
      }
    },
    close: () => agent.close(),
  };
}

/** Notes in the request's `opaque` that it got a connection, and was not aborted before. */
const watchTransmission: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const transmission = (options as { opaque?: Transmission }).opaque;
  const { onRequestStart } = handler;
  handler.onRequestStart = (controller, context) => {
    onRequestStart?.call(handler, controller, context);
    if (transmission && !controller.aborted) transmission.hasStarted = true;
  };
  return dispatch(options, handler);
};

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

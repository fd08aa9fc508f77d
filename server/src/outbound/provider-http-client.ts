// Sends requests to providers over kept connections and reads their answers whole, within bounds of time and size.
import { Agent, request } from "undici";

const CONNECTIONS = 128;
const CONNECT_MS = 5000;
const MOST_BYTES = 200 * 1024 * 1024;

type Options = {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | FormData | undefined;
  timeoutSeconds: number;
};
type Reply = { status: number; header(name: string): string | undefined; text: string };

export type ProviderHttpClient = { send(url: string, options: Options): Promise<Reply>; close(): Promise<void> };

/** Everything thrown here is an error of the connection: what a provider says is never thrown. */
export function createProviderHttpClient(): ProviderHttpClient {
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
    // How long an answer may take is said with each request: some providers answer only when the picture is there.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MOST_BYTES,
  });
  return {
    async send(url, { method, headers, body, timeoutSeconds }) {
      const limit = new AbortController();
      // Cleared when the answer is there: a timer that fires later would cost more than the request did.
      const timer = setTimeout(() => limit.abort(new Error("the provider took too long")), timeoutSeconds * 1000);
      try {
        const packed = body instanceof FormData ? await encodeForm(body) : { headers: {}, body: body ?? null };
        const answer = await request(url, {
          method: method as "POST",
          headers: { ...headers, ...packed.headers },
          body: packed.body,
          dispatcher,
          signal: limit.signal,
        });
        const text = await answer.body.text();
        const header = (name: string) => [answer.headers[name.toLowerCase()]].flat()[0];
        return { status: answer.statusCode, header, text };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => dispatcher.close(),
  };
}

/** The built-in form, as bytes with the boundary that tells its parts. */
async function encodeForm(form: FormData): Promise<{ headers: Record<string, string>; body: Uint8Array }> {
  const packed = new Response(form);
  return {
    headers: { "content-type": packed.headers.get("content-type")! },
    body: new Uint8Array(await packed.arrayBuffer()),
  };
}

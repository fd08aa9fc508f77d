// Sends requests to providers over kept connections and reads their answers whole, within bounds of time and size.
import { Agent, request } from "undici";

const CONNECTIONS = 128;
const CONNECT_MS = 5000;
const MOST_BYTES = 200 * 1024 * 1024;

type Options = { method: string; headers: Record<string, string>; body?: string | Uint8Array | FormData | undefined };
type Reply = { status: number; header(name: string): string | undefined; text: string };

export type Sender = { send(url: string, options: Options): Promise<Reply>; close(): Promise<void> };

/** Everything thrown here is an error of the connection: what a provider says is never thrown. */
export function createSender(timeoutSeconds: number): Sender {
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
    maxResponseSize: MOST_BYTES,
  });
  return {
    async send(url, { method, headers, body }) {
      const limit = new AbortController();
      // Cleared when the answer is there: a timer that fires later would cost more than the request did.
      const timer = setTimeout(() => limit.abort(new Error("the provider took too long")), timeoutSeconds * 1000);
      try {
        const options = { method: method as "POST", headers, body: body ?? null, dispatcher, signal: limit.signal };
        const answer = await request(url, options as Parameters<typeof request>[1]);
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

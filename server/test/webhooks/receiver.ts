// A webhook receiver on a real socket: it records all messages and responds as configured. Its address counts as public
// in the tests.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const RECEIVER_HOST = "127.0.0.50";

export type ReceivedMessage = {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** The parsed body, if it is JSON. */
  event: { type: string; timestamp: string; data: Record<string, any> };
};

/** How to respond: a status with optional headers, or a broken response. */
export type ScriptedResponse =
  | number
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | "hang"
  | "reset"
  | "endless";

export type WebhookReceiver = {
  url: string;
  port: number;
  received: ReceivedMessage[];
  /** What `of` picks of it, once there are so many; throws after a while. */
  got(count: number, of?: (each: ReceivedMessage) => boolean, seconds?: number): Promise<ReceivedMessage[]>;
  /** Decides for each request, in the order in which they come. */
  respondWith(reply: (request: ReceivedMessage, times: number) => ScriptedResponse): void;
  connections(): number;
  close(): Promise<void>;
};

export async function startWebhookReceiver(host = RECEIVER_HOST): Promise<WebhookReceiver> {
  const received: ReceivedMessage[] = [];
  let decide: (request: ReceivedMessage, times: number) => ScriptedResponse = () => 204;
  let connections = 0;
  const times = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const one = { at: Date.now(), path: request.url ?? "", headers: request.headers, bytes, event: parsed(bytes) };
    received.push(one);
    const id = `${request.url} ${request.headers["webhook-id"]}`;
    times.set(id, (times.get(id) ?? 0) + 1);
    reply(response, decide(one, times.get(id)!));
  });
  server.on("connection", () => {
    connections++;
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    received,
    async got(count, of = () => true, seconds = 600) {
      const until = Date.now() + seconds * 1000;
      for (;;) {
        const own = received.filter(of);
        if (own.length >= count) return own;
        if (Date.now() > until) throw new Error(`${own.length} of ${count} messages came in ${seconds} s`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    respondWith: (reply) => {
      decide = reply;
    },
    connections: () => connections,
    close: () => closed(server),
  };
}

function parsed(bytes: Buffer): ReceivedMessage["event"] {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return { type: "", timestamp: "", data: {} };
  }
}

function reply(response: ServerResponse, how: ScriptedResponse): void {
  if (how === "hang") return;
  if (how === "reset") return void response.socket?.resetAndDestroy();
  if (how === "endless") return void sendEndlessBody(response);
  const { status, headers = {}, body = "" } = typeof how === "number" ? { status: how } : how;
  response.writeHead(status, headers).end(status === 204 ? undefined : body);
}

function sendEndlessBody(response: ServerResponse): void {
  response.writeHead(200);
  const more = () => {
    while (response.writable && response.write(Buffer.alloc(16 * 1024, "x")));
  };
  response.on("drain", more);
  more();
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Settings with which Gesso may send to these receivers. */
export const webhookEnv = (...receivers: WebhookReceiver[]): Record<string, string> => ({
  WEBHOOK_ALLOW_HTTP: "true",
  WEBHOOK_ALLOW_CIDRS: `${RECEIVER_HOST}/32`,
  FETCH_PORTS: [80, 443, 8080, 8443, ...receivers.map(({ port }) => port)].join(","),
});

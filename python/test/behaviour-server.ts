// A server that follows a script: each row of the table has a path of its own, so that all rows run at the same time.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export const RUN_ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

/** What the server does with a request. */
type Reply = {
  status?: number;
  headers?: Record<string, string>;
  /** The name of a status for a run with it, a text, or JSON. */
  body?: unknown;
  bytes?: string;
  /** Milliseconds before the response. */
  delay?: number;
  reset?: true;
  truncated?: true;
  silent?: true;
  redirect?: true;
  events?: string[];
  then?: "reset" | "hold";
};

export type Script = Record<string, Reply[]>;
export type SeenRequest = { route: string; at: number; headers: IncomingMessage["headers"] };
export type BehaviourServer = {
  /** The base URL for a row. */
  open(name: string, script: Script): string;
  seen(name: string): SeenRequest[];
  /** Headers of requests that arrived at another host. */
  elsewhere: IncomingMessage["headers"][];
  close(): void;
};

const STATUSES = ["queued", "processing", "completed", "failed", "canceled", "archived", "dreaming"];

const describeRun = (status: string, origin: string) => ({
  run_id: RUN_ID,
  status,
  progress: 0,
  outputs: status === "completed" ? [{ url: `${origin}/files/a.png`, media_type: "image/png" }] : [],
  error: status === "failed" ? { message: "no", code: "provider_error", details: {} } : null,
  finished_at: ["queued", "processing", "dreaming"].includes(status) ? null : "2026-11-15T04:00:00Z",
});

export async function startBehaviourServer(): Promise<BehaviourServer> {
  const scripts = new Map<string, { script: Script; seen: SeenRequest[] }>();
  const elsewhere: IncomingMessage["headers"][] = [];
  const other = createServer((request, response) => {
    elsewhere.push(request.headers);
    response.writeHead(404).end("{}");
  });
  const server = createServer(async (request, response) => {
    const [, name = "", path = ""] = /^\/([^/]+)(\/[^?]*)/.exec(request.url ?? "") ?? [];
    const row = scripts.get(name)!;
    await text(request).catch(() => "");
    const route = `${request.method} ${path.replace(RUN_ID, "{id}")}`;
    row.seen.push({ route, at: performance.now(), headers: request.headers });
    const replies = row.script[route] ?? [{ status: 599, body: `${route} is not in the script` }];
    const count = row.seen.filter((each) => each.route === route).length;
    const origin = `${url(server)}/${name}`;
    send(replies[Math.min(count, replies.length) - 1]!, request, response, {
      origin,
      other: url(other),
    });
  });
  const url = (own: typeof server) => `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  for (const each of [server, other]) await new Promise<void>((done) => each.listen(0, "127.0.0.1", done));
  return {
    elsewhere,
    open: (name, script) => {
      scripts.set(name, { script, seen: [] });
      return `${url(server)}/${name}`;
    },
    seen: (name) => scripts.get(name)!.seen,
    close: () => {
      for (const each of [server, other]) {
        each.closeAllConnections();
        each.close();
      }
    },
  };
}

type Place = { origin: string; other: string };

function send(reply: Reply, request: IncomingMessage, response: ServerResponse, place: Place): void {
  const { status = 200, headers = {}, body, bytes } = reply;
  if (reply.silent) return;
  if (reply.reset) return void request.socket.resetAndDestroy();
  if (reply.redirect) return void response.writeHead(307, { location: `${place.other}/elsewhere` }).end();
  if (reply.truncated) {
    response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
    return void response.write('{"run_id"', () => request.socket.destroy());
  }
  if (reply.events) return void sendEvents(reply, request, response);
  if (bytes !== undefined)
    return void response.writeHead(status, { "content-type": "image/png", ...headers }).end(bytes);
  const isRun = typeof body === "string" && STATUSES.includes(body);
  const content = isRun
    ? JSON.stringify(describeRun(body, place.origin))
    : typeof body === "string"
      ? body
      : JSON.stringify(body ?? {});
  setTimeout(() => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(status === 204 ? undefined : content.replaceAll("{id}", RUN_ID));
  }, reply.delay ?? 0);
}

/** The IDs continue after `Last-Event-ID`. */
function sendEvents({ events = [], then }: Reply, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const last = Number(request.headers["last-event-id"] ?? 0);
  const lines = events.map((status, index) => {
    const event = { event_id: "e", type: `run.${status}`, timestamp: "t", data: { run_id: RUN_ID, status } };
    return `id: ${last + index + 1}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  if (then === undefined) return void response.end(lines.join(""));
  // The client has the events before the connection breaks.
  response.write(lines.join(""), () => then === "reset" && setTimeout(() => request.socket.destroy(), 100));
}

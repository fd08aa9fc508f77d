// Reads an event stream over a plain socket, independent of the client.
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";

export type ReceivedEvent = { id: string; type: string; event: any; at: number };

export type SseReader = {
  response: IncomingMessage;
  heard: ReceivedEvent[];
  /** Everything that came, with comments. */
  text(): string;
  /** Resolves when the server has ended the stream, or the line broke. */
  ended: Promise<"ended" | "cut">;
  /** Resolves with the first event that fits. */
  until(fits: (received: ReceivedEvent) => boolean, ms?: number): Promise<ReceivedEvent>;
  cut(): void;
};

export type StreamTarget = {
  url: string;
  key: string;
  path: string;
  lastEventId?: string | undefined;
  method?: "GET" | "POST";
  body?: object;
  headers?: Record<string, string>;
  onHeard?: (seen: ReceivedEvent) => void;
};

const send = ({ url, key, path, lastEventId, method = "GET", body, headers }: StreamTarget): ClientRequest => {
  const options = {
    // A connection of its own, as every reader has.
    agent: false as const,
    headers: {
      authorization: `Bearer ${key}`,
      accept: "text/event-stream",
      ...(lastEventId && { "last-event-id": lastEventId }),
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
  };
  const { get, request } = url.startsWith("https:") ? https : http;
  if (method === "GET") return get(`${url}/api/v1${path}`, options);
  const sent = request(`${url}/api/v1${path}`, { ...options, method });
  sent.end(JSON.stringify(body));
  return sent;
};

export async function openSseReader(where: StreamTarget): Promise<SseReader> {
  const sent = send(where);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve);
    sent.once("error", reject);
  });
  const received: ReceivedEvent[] = [];
  const waiting = new Set<(each: ReceivedEvent) => void>();
  let [text, rest] = ["", ""];
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop()!;
    for (const each of blocks.flatMap(readBlock)) {
      received.push(each);
      where.onHeard?.(each);
      for (const tell of waiting) tell(each);
    }
  });
  const ended = new Promise<"ended" | "cut">((resolve) => {
    response.once("end", () => resolve("ended"));
    for (const loss of ["error", "close"]) response.once(loss, () => resolve("cut"));
  });
  const until = (fits: (each: ReceivedEvent) => boolean, ms = 300_000) =>
    new Promise<ReceivedEvent>((resolve, reject) => {
      const known = received.find(fits);
      if (known) return resolve(known);
      const late = () => reject(new Error(`not heard within ${ms} ms; heard: ${received.map(({ type }) => type)}`));
      const timer = setTimeout(late, ms);
      const look = (each: ReceivedEvent) => {
        if (!fits(each)) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(each);
      };
      waiting.add(look);
    });
  return { response, heard: received, text: () => text, ended, until, cut: () => response.destroy() };
}

function readBlock(block: string): ReceivedEvent[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const data = field("data");
  if (data === undefined) return [];
  return [{ id: field("id") ?? "", type: field("event") ?? "", event: JSON.parse(data), at: performance.now() }];
}

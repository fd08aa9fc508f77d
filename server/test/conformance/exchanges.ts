// What a test sent over HTTP and the responses it got, so that the same test through the client needs no second run: a
// request of the client that equals one of these gets the recorded response. Every other request goes to the server.
//
// The first test of each operation in a file is not replayed, so that the server judges requests of the client for
// every operation. CONFORMANCE_LIVE=1 replays nothing.
import { createHash } from "node:crypto";

type RecordedResponse = { status: number; headers: [string, string][]; bytes: Buffer };
type Recording = Map<string, { responses: RecordedResponse[]; next: number }>;

const recordings = new Map<string, Recording>();
const liveOperations = new Set<string>();
let current: { recording: Recording; isReplay: boolean } | undefined;

/** Runs a test and records its exchanges under its title. */
export async function withRecording<T>(title: string, work: () => Promise<T> | T): Promise<T> {
  const recording: Recording = new Map();
  recordings.set(title, recording);
  return withExchanges({ recording, isReplay: false }, work);
}

/** Runs a test of these operations with the exchanges that were recorded under its title. */
export async function withReplay<T>(title: string, operations: string[], work: () => Promise<T> | T): Promise<T> {
  const recording = recordings.get(title);
  const isLive = process.env.CONFORMANCE_LIVE || operations.some((operation) => !liveOperations.has(operation));
  if (!recording || isLive) {
    for (const operation of operations) liveOperations.add(operation);
    return work();
  }
  return withExchanges({ recording, isReplay: true }, work);
}

async function withExchanges<T>(exchanges: typeof current, work: () => Promise<T> | T): Promise<T> {
  current = exchanges;
  try {
    return await work();
  } finally {
    current = undefined;
  }
}

/** The headers that a test gives, by which requests are compared: the client adds some of its own. */
type GivenHeaders = Record<string, string>;

/** Sends requests and keeps the responses if a test is being recorded. */
export const recordingFetch =
  (given: GivenHeaders): typeof fetch =>
  async (target, init) => {
    const response = await fetch(target, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!current || current.isReplay || isStream) return response;
    const { recording } = current;
    const key = await describeRequest(given, target, init);
    if (key === undefined) return response;
    const bytes = Buffer.from(await response.clone().arrayBuffer());
    const exchange = recording.get(key) ?? { responses: [], next: 0 };
    exchange.responses.push({ status: response.status, headers: [...response.headers], bytes });
    recording.set(key, exchange);
    return response;
  };

/** The recorded response to an equal request, or else that of the server. */
export const replayingFetch =
  (given: GivenHeaders): typeof fetch =>
  async (target, init) => {
    const key = current?.isReplay ? await describeRequest(given, target, init) : undefined;
    const exchange = key === undefined ? undefined : current?.recording.get(key);
    if (!exchange) return fetch(target, init);
    const { status, headers, bytes } = exchange.responses[Math.min(exchange.next++, exchange.responses.length - 1)]!;
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? new Uint8Array(bytes) : null, { status, headers });
  };

/** Everything that the response depends on, as a text. `undefined`: the request cannot be compared. */
async function describeRequest(
  given: GivenHeaders,
  target: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<string | undefined> {
  if (target instanceof Request) return undefined;
  const { pathname, search } = new URL(target);
  const body = await describeBody(init.body);
  if (body === undefined) return undefined;
  const credential = new Headers(init.headers).get("authorization") ?? "";
  const { authorization: _, ...headers } = Object.fromEntries(new Headers(given));
  return [init.method ?? "GET", pathname + search, credential, JSON.stringify(sortKeys(headers)), body].join("\n");
}

async function describeBody(body: RequestInit["body"]): Promise<string | undefined> {
  if (body === undefined || body === null) return "";
  if (body instanceof FormData) {
    const fields: string[] = [];
    for (const [name, value] of body) {
      const hash = async (file: Blob) =>
        createHash("sha256")
          .update(Buffer.from(await file.arrayBuffer()))
          .digest("hex");
      fields.push(`${name}=${typeof value === "string" ? value : await hash(value)}`);
    }
    return `form ${fields.sort().join("&")}`;
  }
  if (typeof body !== "string") return undefined;
  try {
    return JSON.stringify(sortKeys(JSON.parse(body)));
  } catch {
    return body;
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each)]));
}

// Forwards MCP messages between standard input and output and the MCP server of a Gesso, one HTTP request for each. It
// knows no tool: what the server offers is what the client sees. A lost connection is tried again, because the server
// joins a repeated call with its run.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerConnection } from "../connection.ts";
import { readEventMessages } from "./event-messages.ts";

type Message = { id?: string | number; method?: string; params?: Params; result?: Record<string, unknown> };
type Params = Record<string, unknown> & { _meta?: Record<string, unknown>; requestId?: string | number };

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
const MAX_ATTEMPTS = 4;
const RETRY_MS = 250;
/** JSON-RPC codes: the message is no JSON; the server could not be reached or refused the request. */
const PARSE_ERROR = -32700;
const SERVER_ERROR = -32000;

export type MessageStreams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream };

/** Resolves when the input has ended. Requests in progress are then given up: their runs go on. */
export async function forwardMessages(connection: ServerConnection, { input, output }: MessageStreams): Promise<void> {
  const open = new Map<string | number, AbortController>();
  /** What a client of 2025 has agreed on in `initialize`. Later clients name their version in each message. */
  let negotiated: string | undefined;
  const write = (message: unknown) => void output.write(`${JSON.stringify(message)}\n`);

  const forward = async (message: Message): Promise<void> => {
    const { id, method, params } = message;
    if (method === undefined) return;
    if (method === "notifications/cancelled") return void open.get(params?.requestId ?? "")?.abort();
    const abort = new AbortController();
    if (id !== undefined) open.set(id, abort);
    const headers = headersOf(message, negotiated);
    const onMessage = (received: Message) => {
      if (method === "initialize" && received.id === id) negotiated = String(received.result?.protocolVersion ?? "");
      write(received);
    };
    await send(connection, { message, headers, signal: abort.signal, onMessage })
      .catch((thrown) => {
        if (id === undefined || abort.signal.aborted) return;
        write({ jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: (thrown as Error).message } });
      })
      .finally(() => id !== undefined && open.delete(id));
  };

  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    try {
      void forward(JSON.parse(line) as Message);
    } catch {
      write({ jsonrpc: "2.0", id: null, error: { code: PARSE_ERROR, message: "The line is not valid JSON." } });
    }
  }
  for (const abort of open.values()) abort.abort();
}

function headersOf({ method, params }: Message, negotiated: string | undefined): Record<string, string> {
  const version = params?._meta?.[PROTOCOL_VERSION];
  if (typeof version !== "string") return negotiated ? { "mcp-protocol-version": negotiated } : {};
  const name = params?.name ?? params?.uri;
  return {
    ...{ "mcp-protocol-version": version, "mcp-method": method! },
    ...(typeof name === "string" && /^[\x20-\x7e]+$/.test(name) && { "mcp-name": name }),
  };
}

type Forwarded = {
  message: Message;
  headers: Record<string, string>;
  signal: AbortSignal;
  onMessage(message: Message): void;
};

async function send(connection: ServerConnection, forwarded: Forwarded): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === MAX_ATTEMPTS || forwarded.signal.aborted;
    try {
      if (await sendOnce(connection, forwarded)) return;
      if (isLast) throw new Error("The server closed the connection before the response.");
    } catch (thrown) {
      if (isLast || !(thrown instanceof TypeError)) throw thrown;
    }
    await sleep(RETRY_MS * attempt);
  }
}

/** Returns false if the stream ended without the response. Throws a TypeError, as `fetch`, if the connection failed. */
async function sendOnce({ url, key }: ServerConnection, { message, headers, signal, onMessage }: Forwarded) {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...{ accept: "application/json, text/event-stream", ...headers },
    },
    body: JSON.stringify(message),
    signal,
  });
  if (message.id === undefined) {
    await response.body?.cancel();
    return true;
  }
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    let isAnswered = false;
    for await (const received of readEventMessages(response.body!)) {
      isAnswered ||= (received as Message).id === message.id;
      onMessage(received as Message);
    }
    return isAnswered;
  }
  onMessage(toMessage(message, response.status, await response.text()));
  return true;
}

/** A refusal before the MCP server, such as that of an invalid key, is the error body of the API. */
function toMessage({ id }: Message, status: number, text: string): Message {
  const body = parseObject(text);
  if (body?.jsonrpc !== undefined) return body as Message;
  const reason = typeof body?.message === "string" ? body.message : `The server responded with ${status}.`;
  return { jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: reason, data: body } } as Message;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

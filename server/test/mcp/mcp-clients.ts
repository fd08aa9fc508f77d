// The MCP clients of the tests: the current JavaScript client, the one of 2025, and plain HTTP requests.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export type McpTarget = { url: string; key: string };

const identity = { name: "tests", version: "1.0.0" };
const headersOf = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

/** A client of 2026-07-28. `onQuestion` answers elicitations; without it, the client cannot be asked. */
export async function connectClient({ url, key }: McpTarget, onQuestion?: (message: string) => boolean) {
  const client = new Client(identity, {
    versionNegotiation: { mode: "auto" },
    ...(onQuestion && { capabilities: { elicitation: {} } }),
  });
  if (onQuestion)
    client.setRequestHandler("elicitation/create", ({ params }) => ({
      action: "accept",
      content: { confirm: onQuestion(params.message) },
    }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), headersOf(key)));
  return client;
}

/** A client of 2025-11-25. */
export async function connectEarlierClient({ url, key }: McpTarget) {
  const client = new EarlierClient(identity);
  await client.connect(new EarlierTransport(new URL(`${url}/mcp`), headersOf(key)) as never);
  return client;
}

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": identity,
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** One message of 2026-07-28, without a client. */
export async function postMessage(
  { url, key }: McpTarget,
  method: string,
  params: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const name = params.name ?? params.uri;
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ authorization: `Bearer ${key}`, "mcp-protocol-version": VERSION, "mcp-method": method },
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

export const callByPost = (target: McpTarget, name: string, args: Record<string, unknown>, extra = {}) =>
  postMessage(target, "tools/call", { name, arguments: args, ...extra });

/** The parts of a tool's result that tests look at. */
export type ToolResult = {
  content: { type: string; text?: string; data?: string; mimeType?: string; uri?: string; size?: number }[];
  structuredContent?: any;
  isError?: boolean;
};

export const textOf = ({ content }: ToolResult) => content.map(({ text }) => text ?? "").join("\n");

/** Calls get_run until the run has ended. */
export async function finishRun(client: { callTool(call: object): Promise<unknown> }, result: ToolResult) {
  let current = result;
  while (["queued", "processing"].includes(current.structuredContent?.status)) {
    const run_id = current.structuredContent.run_id;
    current = (await client.callTool({ name: "get_run", arguments: { run_id } })) as ToolResult;
  }
  return current;
}

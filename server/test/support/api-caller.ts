// Calls a running Gesso over HTTP, or through another transport, and reads the sandbox's ledger of accepted jobs.
import type { TestEnvironment } from "./test-environment.ts";

export type ApiResponse = {
  status: number;
  headers: Headers;
  body: any;
  bytes: Buffer;
  /** The client threw it: of what the server wrote there are code, message and details. */
  isClientError?: true;
  /** The body of the error response for which the client threw. */
  errorBody?: any;
};

export type ApiRequestOptions = { body?: unknown; headers?: Record<string, string> };
export type SendApiRequest = (method: string, path: string, options?: ApiRequestOptions) => Promise<ApiResponse>;
export type ApiCaller = ReturnType<typeof createCaller>;

export const createHttpCaller = (environment: Pick<TestEnvironment, "url" | "key">): ApiCaller =>
  createCaller(sendOverHttp(environment));

/** Returns the `fetch` for a request with these headers. */
type FetchWith = (headers: Record<string, string>) => typeof fetch;

export const sendOverHttp =
  ({ url, key }: Pick<TestEnvironment, "url" | "key">, fetchWith: FetchWith = () => fetch): SendApiRequest =>
  async (method, path, { body, headers } = {}) => {
    const isText = typeof body === "string" || body instanceof FormData;
    const response = await fetchWith(headers ?? {})(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const bytes = isStream ? await readStreamStart(response) : Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get("content-type")?.includes("json") && bytes.length > 0;
    const text = bytes.toString();
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, bytes };
  };

const SILENCE_MS = 300;

/** An event stream may have no end: returns what arrives before it is silent for a moment. */
async function readStreamStart(response: Response): Promise<Buffer> {
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  for (;;) {
    const silence = new Promise<{ done: true }>((resolve) => setTimeout(resolve, SILENCE_MS, { done: true }));
    const { done, value } = (await Promise.race([reader.read(), silence])) as ReadableStreamReadResult<Uint8Array>;
    if (done) break;
    chunks.push(value);
  }
  await reader.cancel();
  return Buffer.concat(chunks);
}

export function createCaller(send: SendApiRequest) {
  return {
    send,
    get: (path: string, headers?: Record<string, string>) =>
      send("GET", `/api/v1${path}`, { ...(headers && { headers }) }),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      send("POST", `/api/v1${path}`, { body, ...(headers && { headers }) }),
    delete: (path: string) => send("DELETE", `/api/v1${path}`),
    generate: (body: Record<string, unknown>, headers?: Record<string, string>) =>
      send("POST", "/api/v1/runs/generate", { body, ...(headers && { headers }) }),
    /** Waits for the end of a run by asking. */
    async waitUntilEnded(runId: string, seconds = 600): Promise<any> {
      const until = Date.now() + seconds * 1000;
      for (;;) {
        const { body } = await send("GET", `/api/v1/runs/${runId}`, { headers: { prefer: "wait=5" } });
        if (["completed", "failed", "canceled"].includes(body.status)) return body;
        if (Date.now() > until) throw new Error(`run ${runId} has not ended: ${JSON.stringify(body)}`);
      }
    },
  };
}

export type SandboxLedgerEntry = {
  id: string;
  model: string;
  reference: string | null;
  status: string;
  posts: number;
  delivered: number;
  answer_lost: boolean;
  /** When Gesso accepted the callback. */
  callback_taken_at: string | null;
  /** The job as the sandbox received it. */
  request: Record<string, any>;
};

export async function readSandboxLedger(
  environment: Pick<TestEnvironment, "sandboxUrl" | "sandboxKey">,
): Promise<SandboxLedgerEntry[]> {
  const response = await fetch(`${environment.sandboxUrl}/v1/ledger`, {
    headers: { authorization: `Bearer ${environment.sandboxKey}` },
  });
  return ((await response.json()) as { data: SandboxLedgerEntry[] }).data;
}

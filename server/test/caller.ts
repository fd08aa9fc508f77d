// Calls a running Gesso as a customer would, over HTTP, and looks into the vendor's own book.
import type { World } from "./world.ts";

export type Answer = { status: number; headers: Headers; body: any };

export function callerOf(world: Pick<World, "url" | "key">) {
  const send = async (
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> => {
    const isForm = options.body instanceof FormData;
    const response = await fetch(`${world.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${world.key}`,
        ...(options.body !== undefined && !isForm && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body !== undefined && {
        body: isForm || typeof options.body === "string" ? (options.body as BodyInit) : JSON.stringify(options.body),
      }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
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
    async ended(runId: string, seconds = 60): Promise<any> {
      const until = Date.now() + seconds * 1000;
      for (;;) {
        const { body } = await send("GET", `/api/v1/runs/${runId}`, { headers: { prefer: "wait=5" } });
        if (["completed", "failed", "canceled"].includes(body.status)) return body;
        if (Date.now() > until) throw new Error(`run ${runId} has not ended: ${JSON.stringify(body)}`);
      }
    },
  };
}

export type LedgerEntry = {
  id: string;
  model: string;
  reference: string | null;
  status: string;
  posts: number;
  delivered: number;
  answer_lost: boolean;
  /** As the vendor received it. */
  request: Record<string, any>;
};

export async function readLedger(world: Pick<World, "sandboxUrl" | "sandboxKey">): Promise<LedgerEntry[]> {
  const response = await fetch(`${world.sandboxUrl}/v1/ledger`, {
    headers: { authorization: `Bearer ${world.sandboxKey}` },
  });
  return ((await response.json()) as { data: LedgerEntry[] }).data;
}

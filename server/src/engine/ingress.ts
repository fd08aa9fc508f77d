// How the house talks to the engine: start a run under a name, wake one, leave a mark. Everything said here may be said
// twice, so a node that does not answer is simply passed over for the next.
import { Agent, request } from "undici";
import { z } from "zod";
import type { Held } from "../db/open-runs.ts";
import type { HeldDelivery } from "../db/webhook-queue.ts";
import { Fault } from "../faults.ts";
import type { WakeReason } from "../runs/house.ts";

export const EngineEnv = z.object({
  RESTATE_INGRESS_URL: z
    .string()
    .default("http://127.0.0.1:8080")
    .describe("Where the engine takes calls; several addresses of one cluster are separated by commas"),
  RESTATE_ADMIN_URL: z.string().default("http://127.0.0.1:9070").describe("Where the engine is administered"),
  WORKER_HOST: z.string().default("127.0.0.1").describe("Address that the worker listens on"),
  WORKER_PORT: z.coerce.number().int().default(7789).describe("Port that the worker listens on"),
  WORKER_URL: z.url().default("http://127.0.0.1:7789").describe("Where the engine reaches the workers"),
});

export type Ingress = {
  start(held: Held): Promise<void>;
  startDelivery(held: HeldDelivery): Promise<void>;
  ring(wakeId: string, why: WakeReason): Promise<void>;
  /** Undefined: the engine does not even know our services. */
  readMark(): Promise<string | null | undefined>;
  writeMark(mark: string): Promise<void>;
  close(): Promise<void>;
};

export function connectIngress(urls: string[]): Ingress {
  const dispatcher = new Agent({ connections: 128, pipelining: 1, connectTimeout: 1000, headersTimeout: 5000 });
  let first = 0;

  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    let cause: unknown;
    for (let turn = 0; turn < urls.length; turn++) {
      const url = urls[(first + turn) % urls.length]!;
      try {
        const answer = await request(`${url}${path}`, {
          method: "POST",
          dispatcher,
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        });
        const text = await answer.body.text();
        if (answer.statusCode < 500) return { status: answer.statusCode, text };
        cause = `${answer.statusCode} ${text.slice(0, 200)}`;
      } catch (thrown) {
        cause = thrown;
      }
      // This node is away: the others are asked first from now on.
      first = (first + turn + 1) % urls.length;
    }
    throw new Fault("dependency_unavailable", {}, { cause });
  };

  const must = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const { status, text } = await post(path, body, headers);
    if (status >= 400) throw new Fault("dependency_unavailable", {}, { cause: `${status} ${text.slice(0, 200)}` });
    return text;
  };

  return {
    start: async (held) => {
      await must("/Run/run/send", held, { "idempotency-key": `${held.run_id}#${held.epoch}` });
    },
    startDelivery: async (held) => {
      await must("/Webhook/deliver/send", held, { "idempotency-key": `${held.delivery_id}#${held.round}` });
    },
    ring: async (wakeId, why) => {
      await must(`/restate/awakeables/${wakeId}/resolve`, why);
    },
    async readMark() {
      const { status, text } = await post("/EngineMark/mark/read", undefined);
      if (status === 404) return undefined;
      if (status >= 400) throw new Fault("dependency_unavailable", {}, { cause: text });
      return JSON.parse(text) as string | null;
    },
    writeMark: async (mark) => {
      await must("/EngineMark/mark/write", mark);
    },
    close: () => dispatcher.close(),
  };
}

/** Tells the engine where our services are. Telling it again is fine. */
export async function register(adminUrl: string, workerUrl: string): Promise<void> {
  const answer = await request(`${adminUrl}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: workerUrl, force: true }),
    headersTimeout: 10_000,
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Fault("dependency_unavailable", {}, { cause: text.slice(0, 500) });
}

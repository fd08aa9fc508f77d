// HTTP client of the engine: starts runs and deliveries, resolves wakeups, reads and writes the engine incarnation.
// Every request is idempotent.

import { Agent, request } from "undici";
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import type { RunClaim } from "../db/run-claims.ts";
import type { DeliveryClaim } from "../db/webhooks/delivery-queue.ts";
import { Fault } from "../faults/faults.ts";
import type { WakeupReason } from "../runs/core/notifications.ts";
import { createEngineNodes } from "./engine-nodes.ts";

export const EngineEnv = z.object({
  RESTATE_INGRESS_URL: z
    .string()
    .default("http://127.0.0.1:8080")
    .describe("Ingress URL of Restate; several URLs of one cluster are comma-separated"),
  RESTATE_ADMIN_URL: z
    .string()
    .default("http://127.0.0.1:9070")
    .describe("Admin URL of Restate; several URLs of one cluster are comma-separated"),
  WORKER_HOST: z.string().default("127.0.0.1").describe("IP address that the worker listens on"),
  WORKER_PORT: z.coerce.number().int().default(7789).describe("Port that the worker listens on"),
  RESTATE_IDENTITY_KEYS: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((key) => key.trim())
        .filter(Boolean),
    )
    .refine((keys) => keys.every((key) => key.startsWith("publickeyv1_")), "every key begins with publickeyv1_")
    .describe(
      "Public identity keys of Restate, comma-separated: workers accept only requests signed with one of them. " +
        "Required if WORKER_HOST is not a loopback address",
    ),
  WORKER_URL: z
    .url()
    .default("http://127.0.0.1:7789")
    .describe("URL at which Restate reaches the workers of this version"),
  WORKER_DRAIN_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(600)
    .describe("Seconds that the last worker of a replaced version waits for its runs after SIGTERM"),
});

/** What the engine gets of a run: its claim, and its plan if that is known and short. */
export type RunInvocation = RunClaim & { plan?: Job[] };

export type EngineClient = {
  /** `headers` are stored with the invocation. */
  startRun(invocation: RunInvocation, headers?: Record<string, string>): Promise<void>;
  startDelivery(claim: DeliveryClaim): Promise<void>;
  resolveWakeup(wakeupId: string, reason: WakeupReason): Promise<void>;
  /**
   * Returns undefined if the worker is not registered with the engine, null if the engine has no incarnation stored.
   */
  readIncarnation(): Promise<string | null | undefined>;
  writeIncarnation(incarnation: string): Promise<void>;
  close(): Promise<void>;
};

/** `urls`: comma-separated. */
export function createEngineClient(urls: string): EngineClient {
  const dispatcher = new Agent({ connections: 128, pipelining: 1, connectTimeout: 1000, headersTimeout: 5000 });
  const ask = createEngineNodes(urls);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(async (url) => {
      const response = await request(`${url}${path}`, {
        method: "POST",
        dispatcher,
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      return { status: response.statusCode, text: await response.body.text() };
    });

  const postOrThrow = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const { status, text } = await post(path, body, headers);
    if (status >= 400) throw new Fault("dependency_unavailable", {}, { cause: `${status} ${text.slice(0, 200)}` });
    return text;
  };

  return {
    startRun: async (invocation, headers) => {
      const key = `${invocation.run_id}#${invocation.epoch}`;
      await postOrThrow("/Run/run/send", invocation, { ...headers, "idempotency-key": key });
    },
    startDelivery: async (claim) => {
      await postOrThrow("/Webhook/deliver/send", claim, { "idempotency-key": `${claim.delivery_id}#${claim.epoch}` });
    },
    resolveWakeup: async (wakeupId, reason) => {
      await postOrThrow(`/restate/awakeables/${wakeupId}/resolve`, reason);
    },
    async readIncarnation() {
      const { status, text } = await post("/EngineIncarnation/current/read", undefined);
      if (status === 404) return undefined;
      if (status >= 400) throw new Fault("dependency_unavailable", {}, { cause: text });
      return JSON.parse(text) as string | null;
    },
    writeIncarnation: async (incarnation) => {
      await postOrThrow("/EngineIncarnation/current/write", incarnation);
    },
    close: () => dispatcher.close(),
  };
}

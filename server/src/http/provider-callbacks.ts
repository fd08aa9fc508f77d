// Callback URLs of providers. Each URL is signed for one attempt, so it cannot be guessed; the adapter then verifies
// the callback by the provider's own means.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import type { Database } from "../db/connect.ts";
import { Fault } from "../faults/faults.ts";
import { type CallbackTarget, handleProviderCallback, traceCallback } from "../runs/attempt/provider-callback.ts";
import type { Notifications } from "../runs/core/notifications.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { ProviderRegistry } from "../runs/offers/provider-registry.ts";
import type { SecretKeys } from "../runtime/secret-keys.ts";
import { respondWithFault } from "./error-response.ts";

const MAX_CALLBACK_BYTES = 1024 * 1024;

export type CallbackSigner = {
  sign(target: CallbackTarget): string;
  verify(target: CallbackTarget, signature: string): boolean;
};

export function createCallbackSigner(secrets: SecretKeys): CallbackSigner {
  const keys = secrets.map((secret) => createSecretKey(secret));
  const sign = ({ provider, run_id, request_index, attempt_number }: CallbackTarget, key: KeyObject) =>
    createHmac("sha256", key)
      .update(`${provider} ${run_id} ${request_index} ${attempt_number}`)
      .digest("base64url")
      .slice(0, 22);
  return {
    sign: (target) => sign(target, keys[0]!),
    verify(target, signature) {
      const received = Buffer.from(signature);
      return keys.some((key) => {
        const expected = Buffer.from(sign(target, key));
        return received.length === expected.length && timingSafeEqual(received, expected);
      });
    },
  };
}

type Dependencies = Pick<Runtime, "log" | "tracing"> & {
  database: Database;
  providers: ProviderRegistry;
  notifications: Notifications;
};

export const callbackPath = (target: CallbackTarget, signer: CallbackSigner) =>
  `/callbacks/${target.provider}/${target.run_id}/${target.request_index}/${target.attempt_number}/${signer.sign(target)}`;

export function callbackRoutes(services: Dependencies, signer: CallbackSigner): Hono {
  const app = new Hono();
  app.post("/callbacks/:provider/:run_id/:request_index{\\d+}/:attempt_number{\\d+}/:signature", async (context) => {
    const { provider, run_id, request_index, attempt_number, signature } = context.req.param();
    const target = {
      ...{ provider, run_id },
      ...{ request_index: Number(request_index), attempt_number: Number(attempt_number) },
    };
    try {
      if (!signer.verify(target, signature)) throw new Fault("route_not_found");
      const { searchParams: query } = new URL(context.req.url);
      const { headers } = context.req.raw;
      const body = await readCallbackBody(context.req.raw);
      await traceCallback(services, target, () => handleProviderCallback(services, target, { headers, body, query }));
      return context.json({ received: true });
    } catch (thrown) {
      return respondWithFault(context, thrown, services.log);
    }
  });
  return app;
}

/** A callback without a content-length is bounded too: reading stops at the limit. */
async function readCallbackBody(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_CALLBACK_BYTES) throw new Fault("route_not_found");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_CALLBACK_BYTES) throw new Fault("route_not_found");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

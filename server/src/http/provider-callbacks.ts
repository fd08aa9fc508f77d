// Where providers call back. The address carries a signature of ours, so that only someone who was given it can use it;
// what is said there is then proved by the provider's own means.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { Fault } from "../faults.ts";
import { type CallbackTarget, handleProviderCallback } from "../runs/provider-callback.ts";
import type { Services } from "../runs/services.ts";
import { respondWithFault } from "./error-response.ts";

const MAX_CALLBACK_BYTES = 1024 * 1024;

export type CallbackSigner = {
  sign(address: CallbackTarget): string;
  verify(address: CallbackTarget, signature: string): boolean;
};

export function createCallbackSigner(secret: Uint8Array): CallbackSigner {
  const sign = ({ provider, run_id, job, try: attempt }: CallbackTarget) =>
    createHmac("sha256", secret).update(`${provider} ${run_id} ${job} ${attempt}`).digest("base64url").slice(0, 22);
  return {
    sign,
    verify(address, signature) {
      const expected = sign(address);
      return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
    },
  };
}

export const callbackPath = (address: CallbackTarget, signer: CallbackSigner) =>
  `/callbacks/${address.provider}/${address.run_id}/${address.job}/${address.try}/${signer.sign(address)}`;

export function callbackRoutes(house: Services, signer: CallbackSigner): Hono {
  const app = new Hono();
  app.post("/callbacks/:provider/:run_id/:job{\\d+}/:try{\\d+}/:signature", async (context) => {
    const { provider, run_id, job, try: attempt, signature } = context.req.param();
    const address = { provider, run_id, job: Number(job), try: Number(attempt) };
    try {
      const tooLarge = Number(context.req.header("content-length") ?? 0) > MAX_CALLBACK_BYTES;
      if (tooLarge || !signer.verify(address, signature)) throw new Fault("route_not_found");
      const { searchParams: query } = new URL(context.req.url);
      await handleProviderCallback(house, address, {
        headers: context.req.raw.headers,
        body: await context.req.text(),
        query,
      });
      return context.json({ received: true });
    } catch (thrown) {
      return respondWithFault(context, thrown, house.log);
    }
  });
  return app;
}

// Serves a tenant's public signing keys (JWK set) for webhook signatures. Keys are derived from the server secret and
// the tenant id, so the response does not reveal whether the tenant exists.
import { Hono } from "hono";
import { z } from "zod";
import { Fault } from "../faults/faults.ts";
import type { Log } from "../observe/log.ts";
import { toPublicJwk } from "../webhooks/message-signature.ts";
import type { WebhookService } from "../webhooks/webhook-service.ts";
import { respondWithFault } from "./error-response.ts";

const CACHE_SECONDS = 300;
const ISSUE = { path: "/tenant", code: "invalid_uuid", message: "Must be the id of a tenant." };

export function webhookKeyRoutes({ signingKeys }: Pick<WebhookService, "signingKeys">, log: Log): Hono {
  const app = new Hono();
  app.get("/.well-known/webhook-keys", (context) => {
    const tenant = z.uuid().safeParse(context.req.query("tenant"));
    if (!tenant.success) return respondWithFault(context, new Fault("validation_error", { errors: [ISSUE] }), log);
    context.header("cache-control", `public, max-age=${CACHE_SECONDS}`);
    context.header("access-control-allow-origin", "*");
    return context.json({ keys: signingKeys(tenant.data.toLowerCase()).map(toPublicJwk) });
  });
  return app;
}

// The public keys that messages of webhooks can be checked with. Each tenant has its own, so that nobody's messages pass for
// another's; they are made of our secret and the tenant's id, so this tells nobody whether there is such a tenant.
import { Hono } from "hono";
import { z } from "zod";
import { Fault } from "../faults.ts";
import type { Log } from "../runs/house.ts";
import type { Office } from "../webhooks/office.ts";
import { publicKey } from "../webhooks/sign.ts";
import { answerFault } from "./answer.ts";

const CACHE_SECONDS = 300;
const ISSUE = { path: "/tenant", code: "invalid_uuid", message: "Give the tenant's id." };

export function webhookKeyRoutes({ signingKey }: Pick<Office, "signingKey">, log: Log): Hono {
  const app = new Hono();
  app.get("/.well-known/webhook-keys", (context) => {
    const tenant = z.uuid().safeParse(context.req.query("tenant"));
    if (!tenant.success) return answerFault(context, new Fault("validation_error", { errors: [ISSUE] }), log);
    context.header("cache-control", `public, max-age=${CACHE_SECONDS}`);
    context.header("access-control-allow-origin", "*");
    return context.json({ keys: [publicKey(signingKey(tenant.data.toLowerCase()))] });
  });
  return app;
}

// Hono webhook receiver that verifies the signature of each message. It runs on Node here; the route is the same on
// workers, Bun and Deno.
import { unwrap, WebhookVerificationError } from "@gesso/client/webhooks";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const [port = "8083"] = process.argv.slice(2);
const { WEBHOOK_SECRET = "" } = process.env;
const seen = new Set<string>();

const app = new Hono();
app.post("/gesso", async (context) => {
  try {
    const event = await unwrap<{ run_id: string }>(await context.req.text(), context.req.raw, WEBHOOK_SECRET);
    // Deduplicate: a message can arrive twice, with the same ID.
    const id = context.req.header("webhook-id") ?? "";
    if (!seen.has(id)) console.log(event.type, event.data.run_id);
    seen.add(id);
    return context.body(null, 204);
  } catch (error) {
    if (!WebhookVerificationError.isInstance(error)) throw error;
    return context.json({ reason: error.reason }, 400);
  }
});
serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" }, (address) => {
  console.log(`http://127.0.0.1:${address.port}/gesso`);
});

// Express webhook receiver that verifies the signature of each message. It reads the raw body: parsing and
// re-serializing would change the bytes and break the signature.
import { unwrap, WebhookVerificationError } from "@gesso/client/webhooks";
import express from "express";

const [port = "8081"] = process.argv.slice(2);
const { WEBHOOK_SECRET = "" } = process.env;
const seen = new Set<string>();

const app = express();
app.post("/gesso", express.raw({ type: "*/*" }), async (request, response) => {
  try {
    const event = await unwrap<{ run_id: string }>(request.body, request.headers, WEBHOOK_SECRET);
    // Deduplicate: a message can arrive twice, with the same ID.
    const id = String(request.headers["webhook-id"]);
    if (!seen.has(id)) console.log(event.type, event.data.run_id);
    seen.add(id);
    response.sendStatus(204);
  } catch (error) {
    if (!WebhookVerificationError.isInstance(error)) throw error;
    response.status(400).json({ reason: error.reason });
  }
});
const server = app.listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}/gesso`);
});

// Fastify webhook receiver that verifies the signature of each message. A custom content type parser keeps the raw
// body, because Fastify parses JSON by default.
import { unwrap, WebhookVerificationError } from "@gesso/client/webhooks";
import { fastify } from "fastify";

const [port = "8082"] = process.argv.slice(2);
const { WEBHOOK_SECRET = "" } = process.env;
const seen = new Set<string>();

const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post("/gesso", async (request, reply) => {
  try {
    const event = await unwrap<{ run_id: string }>(request.body as Buffer, request.headers, WEBHOOK_SECRET);
    // Deduplicate: a message can arrive twice, with the same ID.
    const id = String(request.headers["webhook-id"]);
    if (!seen.has(id)) console.log(event.type, event.data.run_id);
    seen.add(id);
    return reply.code(204).send();
  } catch (error) {
    if (!WebhookVerificationError.isInstance(error)) throw error;
    return reply.code(400).send({ reason: error.reason });
  }
});
console.log(`${await app.listen({ port: Number(port), host: "127.0.0.1" })}/gesso`);

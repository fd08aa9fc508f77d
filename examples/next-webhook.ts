// Webhook receiver as a Next.js route handler. Copy it to `app/api/gesso/route.ts`.
import { unwrap, WebhookVerificationError } from "@gesso/client/webhooks";

const seen = new Set<string>();

export async function POST(request: Request): Promise<Response> {
  const { WEBHOOK_SECRET = "" } = process.env;
  try {
    const event = await unwrap<{ run_id: string }>(await request.text(), request.headers, WEBHOOK_SECRET);
    // Deduplicate: a message can arrive twice, with the same ID.
    const id = request.headers.get("webhook-id") ?? "";
    if (!seen.has(id)) console.log(event.type, event.data.run_id);
    seen.add(id);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!WebhookVerificationError.isInstance(error)) throw error;
    return Response.json({ reason: error.reason }, { status: 400 });
  }
}

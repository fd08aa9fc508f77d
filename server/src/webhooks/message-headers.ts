// The HTTP headers of a webhook message: id, timestamp, attempt number and signatures.
import { signMessage } from "./message-signature.ts";
import type { WebhookServices } from "./webhook-service.ts";

export const WEBHOOK_USER_AGENT = "Gesso-webhooks/1";

type SentMessage = { tenant_id: string; event_id: string; body: string; attempt: number };

export function buildMessageHeaders(
  services: Pick<WebhookServices, "signingKeys" | "clock">,
  secrets: string[],
  { tenant_id, event_id, body, attempt }: SentMessage,
): Record<string, string> {
  const id = `evt_${event_id}`;
  const timestamp = Math.floor(services.clock.now() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": WEBHOOK_USER_AGENT,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signMessage({ id, timestamp, body }, secrets, services.signingKeys(tenant_id)),
    "x-webhook-attempt": String(attempt),
  };
}

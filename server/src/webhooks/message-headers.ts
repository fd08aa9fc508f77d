// What goes with a message, whoever sends it: its id, when and how often it was tried, and the signatures.

import { signMessage } from "./message-signature.ts";
import type { Office } from "./webhook-service.ts";

export const WEBHOOK_USER_AGENT = "Gesso-webhooks/1";

type Sent = { tenant_id: string; event_id: string; body: string; attempt: number };

export function buildMessageHeaders(
  office: Pick<Office, "signingKey">,
  secrets: string[],
  { tenant_id, event_id, body, attempt }: Sent,
): Record<string, string> {
  const id = `evt_${event_id}`;
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": WEBHOOK_USER_AGENT,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signMessage({ id, timestamp, body }, secrets, office.signingKey(tenant_id)),
    "x-webhook-attempt": String(attempt),
  };
}

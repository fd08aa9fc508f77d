// The destination (queue key) of a delivery: one per webhook endpoint, or one per tenant and origin for runs with
// webhook_url. An unreachable receiver of one tenant never delays another tenant, even on the same host.
import { deriveId } from "../runs/core/ids.ts";

type DeliveryTarget = { tenant_id: string; webhook_id: string | null; url: string };

export function deliveryDestination({ tenant_id, webhook_id, url }: DeliveryTarget): {
  destination: string;
  host: string;
} {
  const { origin, hostname } = new URL(url);
  return { destination: webhook_id ? `webhook/${webhook_id}` : `${tenant_id}/${origin}`, host: hostname };
}

/** Deterministic: the same event for the same endpoint always has the same delivery id. */
export const buildDeliveryId = (eventId: string, webhookId: string | null): string =>
  deriveId(eventId, "delivery", webhookId ?? "run");

// The destination (queue key) of a delivery: one per webhook endpoint, or one per tenant and origin for runs with webhook_url. A dead
// receiver of one tenant never delays another tenant, even on the same host.
import { deriveId } from "../runs/ids.ts";

type Addressed = { tenant_id: string; webhook_id: string | null; url: string };

export function deliveryDestination({ tenant_id, webhook_id, url }: Addressed): { destination: string; host: string } {
  const { origin, hostname } = new URL(url);
  return { destination: webhook_id ? `webhook/${webhook_id}` : `${tenant_id}/${origin}`, host: hostname };
}

/** The same message to the same destination has the same name, however often it is made. */
export const buildDeliveryId = (eventId: string, webhookId: string | null): string =>
  deriveId(eventId, "delivery", webhookId ?? "run");

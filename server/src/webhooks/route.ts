// Where messages go and who shares a queue: a webhook has its own, and so have a tenant's runs that name one origin. One
// tenant's dead receiver never delays another's, also where both are at the same host.
import { idWithin } from "../runs/ids.ts";

type Addressed = { tenant_id: string; webhook_id: string | null; url: string };

export function routeOf({ tenant_id, webhook_id, url }: Addressed): { destination: string; host: string } {
  const { origin, hostname } = new URL(url);
  return { destination: webhook_id ? `webhook/${webhook_id}` : `${tenant_id}/${origin}`, host: hostname };
}

/** The same message to the same destination has the same name, however often it is made. */
export const deliveryId = (eventId: string, webhookId: string | null): string =>
  idWithin(eventId, "delivery", webhookId ?? "run");

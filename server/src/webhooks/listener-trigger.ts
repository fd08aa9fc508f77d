// Triggers listeners with a `webhook.test` event that webhook endpoints do not receive. It requests a test message, or
// the redelivery of a message that was forwarded before.
import type { RequestContext } from "../access/request-context.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { insertTestEvent } from "../db/webhooks/listeners.ts";
import type { Ids } from "../runtime/clock.ts";

export const LISTENER_TRIGGER_EVENT = "webhook.test";

const SCHEME = "cli:";
/** The URL of a listener in the list of deliveries. The server never sends to it. */
export const listenerUrl = (name: string): string => `${SCHEME}${name}`;
export const isListenerDelivery = ({ url }: { url: string }): boolean => url.startsWith(SCHEME);

export type ListenerTrigger = { type: string; metadata?: JsonObject | undefined } | { delivery_id: string };

export async function triggerListeners(ids: Ids, { database, caller }: RequestContext, trigger: ListenerTrigger) {
  const event_id = ids.next();
  const created_at = await insertTestEvent(database, caller.tenant_id, event_id, trigger);
  return { event_id, created_at };
}

// Triggers listeners with a `webhook.test` event that webhook endpoints do not receive. It requests a test message, or the
// redelivery of a message that was forwarded before.
import { insertTestEvent } from "../db/webhooks/listeners.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import type { Counter } from "./webhook-request-context.ts";

export const LISTENER_TRIGGER_EVENT = "webhook.test";

const SCHEME = "cli:";
/** How a listener is called in the log of deliveries. Nothing is ever sent there by us. */
export const listenerUrl = (name: string): string => `${SCHEME}${name}`;
export const isListenerDelivery = ({ url }: { url: string }): boolean => url.startsWith(SCHEME);

export type ListenerTrigger = { type: string; metadata?: JsonObject | undefined } | { delivery_id: string };

export async function triggerListeners(
  { db, caller, newId }: Pick<Counter, "db" | "caller" | "newId">,
  called: ListenerTrigger,
) {
  const event_id = newId();
  const created_at = await insertTestEvent(db, caller.tenant_id, event_id, called);
  return { event_id, created_at };
}

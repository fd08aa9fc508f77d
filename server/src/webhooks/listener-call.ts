// How listeners are called: by an event that only they heed. It asks for a message that tells of nothing, or for one that was
// passed on before.
import { callListeners } from "../db/webhook-listeners.ts";
import type { Json } from "../kit/shapes.ts";
import type { Counter } from "./counter.ts";

export const CALL = "webhook.test";

const SCHEME = "cli:";
/** How a listener is called in the log of deliveries. Nothing is ever sent there by us. */
export const urlOf = (name: string): string => `${SCHEME}${name}`;
export const isListeners = ({ url }: { url: string }): boolean => url.startsWith(SCHEME);

export type Called = { type: string; metadata?: Json | undefined } | { delivery_id: string };

export async function call({ db, caller, newId }: Pick<Counter, "db" | "caller" | "newId">, called: Called) {
  const event_id = newId();
  const created_at = await callListeners(db, caller.tenant_id, event_id, called);
  return { event_id, created_at };
}

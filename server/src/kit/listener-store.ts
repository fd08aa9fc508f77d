// What operations on webhook listeners can do, on behalf of one caller.
import type { NewWebhookListener, WebhookCall, WebhookMessage } from "./schemas/listeners.ts";
import type { JsonObject } from "./schemas/run.ts";
import type { WebhookDelivery } from "./schemas/webhooks.ts";

export type ForwardReport = {
  place: string;
  attempt: number;
  started_at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response: string | null;
};

export type ListenerStore = {
  create(draft: { name: string; secret?: string | undefined }): Promise<NewWebhookListener>;
  /** The message that a webhook endpoint would receive for the event, signed with the secret of this listener. */
  message(listenerId: string, place: string): Promise<WebhookMessage>;
  report(listenerId: string, report: ForwardReport): Promise<WebhookDelivery>;
  /** Sends a test event to all listeners of the tenant. */
  trigger(request: { type: string; metadata?: JsonObject | undefined }): Promise<WebhookCall>;
};

// What operations on listeners may ask of the house, always in the name of one caller.

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
  /** A message as a webhook would be sent it, signed for this listener. */
  message(listenerId: string, place: string): Promise<WebhookMessage>;
  report(listenerId: string, report: ForwardReport): Promise<WebhookDelivery>;
  /** Has everybody who listens pass on a message that tells of no run. */
  trigger(wish: { type: string; metadata?: JsonObject | undefined }): Promise<WebhookCall>;
};

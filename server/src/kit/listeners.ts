// What operations on listeners may ask of the house, always in the name of one caller.
import type { Json } from "./shapes.ts";
import type { NewWebhookListener, WebhookCall, WebhookMessage } from "./shapes-listeners.ts";
import type { WebhookDelivery } from "./shapes-webhooks.ts";

export type ForwardReport = {
  place: string;
  attempt: number;
  started_at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response: string | null;
};

export type WebhookListeners = {
  create(draft: { name: string; secret?: string | undefined }): Promise<NewWebhookListener>;
  /** A message as a webhook would be sent it, signed for this listener. */
  message(listenerId: string, place: string): Promise<WebhookMessage>;
  report(listenerId: string, report: ForwardReport): Promise<WebhookDelivery>;
  /** Has everybody who listens pass on a message that tells of no run. */
  call(wish: { type: string; metadata?: Json | undefined }): Promise<WebhookCall>;
};

// What operations on webhooks can do, on behalf of one caller.
import type { PageRequest } from "./access-services.ts";
import type { ListenerStore } from "./listener-store.ts";
import type { JsonObject } from "./schemas/run.ts";
import type {
  NewWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryPage,
  WebhookEventType,
  WebhookPage,
  WebhookReplay,
  WebhookSecret,
} from "./schemas/webhooks.ts";

export type WebhookDraft = { url: string; events: WebhookEventType[]; description?: string | null | undefined };
export type SecretRotation = { secret?: string | undefined; overlap_seconds: number };
export type DeliveryListRequest = PageRequest & {
  webhook_id?: string | undefined;
  run_id?: string | undefined;
  status?: string | undefined;
};
/** A test message: the event type it imitates and the metadata of the imitated run. */
export type TestMessageRequest = { type: string; metadata?: JsonObject | undefined };
export type ReplayRequest = { from: string; to?: string | undefined; only_failed: boolean };

export type WebhookStore = {
  create(draft: WebhookDraft & { secret?: string | undefined }): Promise<NewWebhook>;
  list(page: PageRequest): Promise<WebhookPage>;
  get(webhookId: string): Promise<Webhook>;
  update(webhookId: string, change: Partial<WebhookDraft & { enabled: boolean }>): Promise<Webhook>;
  delete(webhookId: string): Promise<Webhook>;
  secrets: WebhookSecrets;
  deliveries: WebhookDeliveries;
  listeners: ListenerStore;
};

export type WebhookSecrets = {
  rotate(webhookId: string, rotation: SecretRotation): Promise<NewWebhook>;
  /** Replaces the secret that signs webhooks of runs without a `webhook_secret`. */
  rotateForTenant(rotation: SecretRotation): Promise<WebhookSecret>;
};

export type WebhookDeliveries = {
  sendTest(webhookId: string, request: TestMessageRequest): Promise<WebhookDelivery>;
  replay(webhookId: string, request: ReplayRequest): Promise<WebhookReplay>;
  list(filter: DeliveryListRequest): Promise<WebhookDeliveryPage>;
  get(deliveryId: string): Promise<WebhookDeliveryDetails>;
  redeliver(deliveryId: string): Promise<WebhookDelivery>;
};

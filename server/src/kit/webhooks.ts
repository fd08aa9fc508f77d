// What operations on webhooks may ask of the house, always in the name of one caller.
import type { Page } from "./access.ts";
import type { WebhookListeners } from "./listeners.ts";
import type { Json } from "./shapes.ts";
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
} from "./shapes-webhooks.ts";

export type WebhookDraft = { url: string; events: WebhookEventType[]; description?: string | null | undefined };
export type Rotation = { secret?: string | undefined; overlap_seconds: number };
export type DeliveryWish = Page & {
  webhook_id?: string | undefined;
  run_id?: string | undefined;
  status?: string | undefined;
};
/** A message that tells of nothing, and what it looks like. */
export type TestWish = { type: string; metadata?: Json | undefined };
export type ReplayWish = { from: string; to?: string | undefined; only_failed: boolean };

export type WebhookLibrary = {
  create(draft: WebhookDraft & { secret?: string | undefined }): Promise<NewWebhook>;
  list(page: Page): Promise<WebhookPage>;
  get(webhookId: string): Promise<Webhook>;
  update(webhookId: string, change: Partial<WebhookDraft & { enabled: boolean }>): Promise<Webhook>;
  delete(webhookId: string): Promise<Webhook>;
  rotate(webhookId: string, rotation: Rotation): Promise<NewWebhook>;
  /** The secret of the tenant itself, for runs that bring none. */
  rotateOwn(rotation: Rotation): Promise<WebhookSecret>;
  test(webhookId: string, wish: TestWish): Promise<WebhookDelivery>;
  replay(webhookId: string, wish: ReplayWish): Promise<WebhookReplay>;
  deliveries(wish: DeliveryWish): Promise<WebhookDeliveryPage>;
  delivery(deliveryId: string): Promise<WebhookDeliveryDetails>;
  redeliver(deliveryId: string): Promise<WebhookDelivery>;
  listeners: WebhookListeners;
};

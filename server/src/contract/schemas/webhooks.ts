// Schemas of webhook endpoints, deliveries and delivery attempts.
import { z } from "zod";
import { httpUrl, textField, timestampField, webhookSecret } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

/** Event types of webhooks. The first three are the default subscription. */
export const WEBHOOK_EVENTS = [
  "run.completed",
  "run.failed",
  "run.canceled",
  "run.processing",
  "run.progress",
  "webhook_endpoint.disabled",
  "credits.low",
  "budget.warning",
  "budget.reached",
  "api_key.revoked",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];
const DEFAULT_EVENTS = WEBHOOK_EVENTS.slice(0, 3) as WebhookEventType[];

export const DELIVERY_STATUSES = ["pending", "delivered", "exhausted", "disabled", "dropped"] as const;
const DISABLED_REASONS = ["asked", "gone", "failing", "not_allowed"] as const;

export const webhookId = (description = "ID of the webhook") => z.uuid().describe(description);
export const deliveryId = () => z.uuid().describe("ID of the delivery");
export const webhookUrl = () => httpUrl().describe("Endpoint URL. Must be https and publicly reachable");
export const webhookEvents = () =>
  z.array(z.enum(WEBHOOK_EVENTS).describe("An event type")).min(1).max(WEBHOOK_EVENTS.length);
export const defaultEventsField = () =>
  webhookEvents()
    .default(DEFAULT_EVENTS)
    .describe("Event types to send. Default: run.completed, run.failed, run.canceled");
export const webhookDescription = () =>
  textField("", 500).nullable().describe("Description of the webhook, at most 500 characters");
export const webhookSecretField = () => webhookSecret("Signing secret, 16 to 255 bytes. Generated if omitted");
export const overlapSecondsField = () =>
  z
    .int()
    .min(0)
    .max(7 * 24 * 60 * 60)
    .default(24 * 60 * 60)
    .describe(
      "Seconds during which Gesso signs messages with both the old and the new secret, 0 to 604800. Default: 86400",
    );
export const replayFromField = () => timestampField("Start of the replay, by the time of the event");
export const replayToField = () => timestampField("End of the replay. Default: now");

export const Webhook = z
  .object({
    id: z.uuid().describe("ID of the webhook"),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)).describe("Subscribed event types"),
    description: z.string().nullable(),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .describe(
        "asked: you disabled it; gone: it returned 410; failing: every delivery failed for 5 days; not_allowed: its URL is not allowed",
      ),
    disabled_at: z.iso.datetime().nullable(),
    failing_since: z.iso
      .datetime()
      .nullable()
      .describe("Time of the first failure since the last successful delivery. null if the last delivery succeeded"),
    public_keys_url: z.url().describe("URL of the public keys, for verification without the secret"),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

const shownOnce = () =>
  z
    .string()
    .nullable()
    .describe("The secret. Returned only once; null if you provided it or the request is an idempotent replay");

export const NewWebhook = Webhook.extend({ secret: shownOnce() }).meta({ id: "NewWebhook" });
export type NewWebhook = z.infer<typeof NewWebhook>;

export const WebhookSecret = z
  .object({
    secret: shownOnce(),
    old_secret_ends_at: z.iso.datetime().nullable().describe("Time until which Gesso also signs with the old secret"),
  })
  .meta({ id: "WebhookSecret" });
export type WebhookSecret = z.infer<typeof WebhookSecret>;

export const WebhookPage = pageSchema(Webhook, "WebhookPage");
export type WebhookPage = z.infer<typeof WebhookPage>;

export const WebhookDelivery = z
  .object({
    id: z.uuid().describe("ID of the delivery"),
    event_id: z.string().describe("Event ID, sent as `webhook-id`. The same at every attempt"),
    type: z.string().describe("Type of the event"),
    webhook_id: z.uuid().nullable().describe("ID of the webhook. null if the URL is the `webhook_url` of a run"),
    run_id: z.uuid().nullable().describe("Run of the event. null if the event is not about a run"),
    url: z.string(),
    status: z
      .enum(DELIVERY_STATUSES)
      .describe(
        "exhausted: all attempts failed; disabled: the endpoint is disabled; dropped: its run or webhook was deleted first",
      ),
    attempts: z.int().describe("Number of attempts"),
    next_attempt_at: z.iso.datetime().nullable().describe("Time of the next attempt. null if there is none"),
    created_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const WebhookAttempt = z
  .object({
    attempt: z.int().describe("Attempt number from 1, sent as `x-webhook-attempt`"),
    started_at: z.iso.datetime(),
    duration_ms: z.int(),
    status: z.int().nullable().describe("HTTP status of the response; null if there was none"),
    error: z.string().nullable().describe("Reason why there was no response, such as timeout, connection, tls or name"),
    response: z.string().nullable().describe("First 1,024 bytes of the response body, as text"),
  })
  .meta({ id: "WebhookAttempt" });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

export const WebhookDeliveryDetails = WebhookDelivery.extend({
  body: z
    .string()
    .nullable()
    .describe("Body of the message, the same at every attempt. null after the run was deleted"),
  log: z.array(WebhookAttempt).describe("All attempts, in order"),
}).meta({ id: "WebhookDeliveryDetails" });
export type WebhookDeliveryDetails = z.infer<typeof WebhookDeliveryDetails>;

export const WebhookDeliveryPage = pageSchema(WebhookDelivery, "WebhookDeliveryPage");
export type WebhookDeliveryPage = z.infer<typeof WebhookDeliveryPage>;

export const WebhookReplay = z
  .object({
    id: z.uuid(),
    webhook_id: z.uuid(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    only_failed: z.boolean(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "WebhookReplay" });
export type WebhookReplay = z.infer<typeof WebhookReplay>;

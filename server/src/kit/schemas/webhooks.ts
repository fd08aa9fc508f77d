// The shapes of webhooks: where a tenant wants to be told of what, each message, and each time that it was tried.
import { z } from "zod";
import { httpUrl, textField, timestampField, webhookSecret } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

/** What a webhook can be told of. The first three are what it is told of where nothing is said. */
export const WEBHOOK_EVENTS = [
  "run.completed",
  "run.failed",
  "run.canceled",
  "run.processing",
  "run.progress",
  "webhook_endpoint.disabled",
  "credits.low",
  "api_key.revoked",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];
const DEFAULT_EVENTS = WEBHOOK_EVENTS.slice(0, 3) as WebhookEventType[];

export const DELIVERY_STATUSES = ["pending", "delivered", "exhausted", "disabled", "dropped"] as const;
const DISABLED_REASONS = ["asked", "gone", "failing", "not_allowed"] as const;

export const webhookId = (says = "The webhook") => z.uuid().describe(says);
export const deliveryId = () => z.uuid().describe("The delivery");
export const webhookUrl = () => httpUrl().describe("Endpoint URL. Must be https and publicly reachable");
export const webhookEvents = () =>
  z.array(z.enum(WEBHOOK_EVENTS).describe("A type of event")).min(1).max(WEBHOOK_EVENTS.length);
export const defaultEventsField = () =>
  webhookEvents()
    .default(DEFAULT_EVENTS)
    .describe("Event types to send. Default: run.completed, run.failed, run.canceled");
export const webhookDescription = () => textField("", 500).nullable().describe("What it is for");
export const webhookSecretField = () => webhookSecret("Signing secret, 16 to 255 bytes. Generated if omitted");
export const overlapSecondsField = () =>
  z
    .int()
    .min(0)
    .max(7 * 24 * 60 * 60)
    .default(24 * 60 * 60)
    .describe("Seconds during which messages are signed with both the old and the new secret. Default: 86400");
export const replayFromField = () => timestampField("From when on, by the time of the event");
export const replayToField = () => timestampField("Until when; now where nothing is said");

export const Webhook = z
  .object({
    id: z.uuid().describe("The webhook's id"),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)).describe("What it is told of"),
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
      .describe("Since when nothing has arrived; null while the last message did"),
    public_keys_url: z.url().describe("The public keys that its messages can be checked with instead of the secret"),
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
    old_secret_ends_at: z.iso.datetime().nullable().describe("Until when messages are signed with the old one too"),
  })
  .meta({ id: "WebhookSecret" });
export type WebhookSecret = z.infer<typeof WebhookSecret>;

export const WebhookPage = pageSchema(Webhook, "WebhookPage");
export type WebhookPage = z.infer<typeof WebhookPage>;

export const WebhookDelivery = z
  .object({
    id: z.uuid().describe("The delivery's id"),
    event_id: z.string().describe("What receivers get as `webhook-id`, at every attempt the same"),
    type: z.string().describe("The type of the event"),
    webhook_id: z.uuid().nullable().describe("Null where a run named the address"),
    run_id: z.uuid().nullable().describe("The run that it tells of"),
    url: z.string(),
    status: z
      .enum(DELIVERY_STATUSES)
      .describe(
        "exhausted: all attempts failed; disabled: the endpoint is disabled; dropped: its run or webhook was deleted first",
      ),
    attempts: z.int().describe("How often it was tried"),
    next_attempt_at: z.iso.datetime().nullable().describe("When it is tried again"),
    created_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const WebhookAttempt = z
  .object({
    attempt: z.int().describe("Counts from 1; receivers get it as `x-webhook-attempt`"),
    started_at: z.iso.datetime(),
    duration_ms: z.int(),
    status: z.int().nullable().describe("HTTP status of the response; null if there was none"),
    error: z
      .string()
      .nullable()
      .describe("What went wrong before it could answer, such as timeout, connection, tls, name"),
    response: z.string().nullable().describe("The first 1,024 bytes of its answer, as text"),
  })
  .meta({ id: "WebhookAttempt" });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

export const WebhookDeliveryDetails = WebhookDelivery.extend({
  body: z.string().nullable().describe("Exactly what is sent, at every attempt; null once the run was deleted"),
  log: z.array(WebhookAttempt).describe("Every attempt, in order"),
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

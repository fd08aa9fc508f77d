// Schemas of webhook listeners: development programs that receive webhook messages and forward them to a local server.
import { z } from "zod";
import { textField, timestampField } from "../fields.ts";

export const listenerId = () => z.uuid().describe("ID of the listener");
export const listenerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
      error: "Must have only letters, digits, dots, dashes and underscores.",
    })
    .describe("Name of the listener in the list of deliveries, such as the host name. At most 64 characters");
export const eventPositionField = () =>
  z
    .string()
    .regex(/^[0-9a-f]{12}-[0-9a-f]{12}$/, { error: "Must be the ID of an event." })
    .describe("`id` of the event in the stream");
export const attemptNumber = () => z.int().min(1).max(1000).describe("`attempt` of the message");
export const startedAt = () => timestampField("Time of the forwarding");
export const durationMsField = () =>
  z.int().min(0).max(3_600_000).describe("Duration in milliseconds, at most 3,600,000");
export const responseStatusField = () =>
  z.int().min(100).max(599).nullable().describe("HTTP status of the response. null if there was none");
export const deliveryErrorField = () =>
  textField("", 100).nullable().describe("Reason why there was no response, such as timeout or connection");
export const responseTextField = () =>
  textField("", 1024).nullable().describe("Start of the response body as text, at most 1,024 characters");

export const NewWebhookListener = z
  .object({
    id: z.uuid().describe("ID of the listener. Its deliveries have it as `webhook_id`"),
    name: z.string(),
    url: z.string().describe("Name of the listener as it appears in `url` of its deliveries"),
    secret: z.string().nullable().describe("The secret. Returned only once; null if you provided it"),
    after: z.string().describe("Current end of the event log. Start the event stream after it to miss nothing"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "NewWebhookListener" });
export type NewWebhookListener = z.infer<typeof NewWebhookListener>;

export const WebhookMessage = z
  .object({
    delivery_id: z.uuid().describe("ID of the delivery, once you report it"),
    event_id: z.string().describe("Event ID, sent as `webhook-id`"),
    type: z.string().describe("Type of the event"),
    run_id: z.uuid().nullable().describe("Run of the event. null if the event is not about a run"),
    attempt: z.int().describe("Attempt number, from 1. Send it back in the report"),
    body: z.string().describe("Body to send, byte for byte"),
    headers: z.record(z.string(), z.string()).describe("Headers to send. The signature is valid for 5 minutes"),
  })
  .meta({ id: "WebhookMessage" });
export type WebhookMessage = z.infer<typeof WebhookMessage>;

export const WebhookCall = z
  .object({
    event_id: z.string().describe("Event ID, sent as `webhook-id`"),
    type: z.string().describe("Type of the event"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "WebhookCall" });
export type WebhookCall = z.infer<typeof WebhookCall>;

// The shapes of listeners: programs on somebody's own machine that pass webhook messages on from there.
import { z } from "zod";
import { textField, timestampField } from "../fields.ts";

export const listenerId = () => z.uuid().describe("The listener");
export const listenerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: "Letters, digits, dot, dash and underscore." })
    .describe("What it is called in the log of deliveries, such as the name of its machine");
export const eventPositionField = () =>
  z
    .string()
    .regex(/^[0-9a-f]{12}-[0-9a-f]{12}$/, { error: "The id of an event." })
    .describe("The event's `id` in the stream");
export const attemptNumber = () => z.int().min(1).max(1000).describe("The `attempt` of the message");
export const startedAt = () => timestampField("When it was begun");
export const durationMsField = () => z.int().min(0).max(3_600_000).describe("How long it took, in milliseconds");
export const responseStatusField = () =>
  z.int().min(100).max(599).nullable().describe("What the receiver answered; null where it did not");
export const deliveryErrorField = () =>
  textField("", 100).nullable().describe("What went wrong before it could answer, such as timeout or connection");
export const responseTextField = () => textField("", 1024).nullable().describe("The beginning of its answer, as text");

export const NewWebhookListener = z
  .object({
    id: z.uuid().describe("The listener's id; its deliveries have it as `webhook_id`"),
    name: z.string(),
    url: z.string().describe("How it is called in the log of deliveries"),
    secret: z.string().nullable().describe("The secret, shown this once; null where you gave it"),
    after: z.string().describe("Current end of the event log. Start the event stream after it to miss nothing"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "NewWebhookListener" });
export type NewWebhookListener = z.infer<typeof NewWebhookListener>;

export const WebhookMessage = z
  .object({
    delivery_id: z.uuid().describe("How it is called in the log of deliveries, once it was reported"),
    event_id: z.string().describe("What receivers get as `webhook-id`"),
    type: z.string().describe("The type of the event"),
    run_id: z.uuid().nullable().describe("The run that it tells of"),
    attempt: z.int().describe("Attempt number, from 1. Send it back in the report"),
    body: z.string().describe("Exactly what is to be sent"),
    headers: z
      .record(z.string(), z.string())
      .describe("What is to be sent with it; the signature is good for five minutes"),
  })
  .meta({ id: "WebhookMessage" });
export type WebhookMessage = z.infer<typeof WebhookMessage>;

export const WebhookCall = z
  .object({
    event_id: z.string().describe("What receivers get as `webhook-id`"),
    type: z.string().describe("The type that they see"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "WebhookCall" });
export type WebhookCall = z.infer<typeof WebhookCall>;

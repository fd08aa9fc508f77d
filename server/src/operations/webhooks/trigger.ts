import { z } from "zod";
import { runFields } from "../../contract/fields.ts";
import { WebhookCall } from "../../contract/schemas/listeners.ts";
import { WEBHOOK_EVENTS } from "../../contract/schemas/webhooks.ts";
import type { Ids } from "../../runtime/clock.ts";
import { triggerListeners } from "../../webhooks/listener-trigger.ts";
import { defineQuery } from "../define-query.ts";

export const triggerWebhook = defineQuery({
  name: "webhooks.trigger",
  summary: "Send a test message to all active listeners. Webhook endpoints do not receive it",
  http: { method: "POST", path: "/webhooks/trigger", bodies: ["json"], status: 202 },
  input: z.object({
    type: z
      .enum(["webhook.test", ...WEBHOOK_EVENTS])
      .default("webhook.test")
      .describe("Event type of the test message. Run events describe a sample run. Default: webhook.test"),
    metadata: runFields.metadata.describe("Metadata of the sample run"),
  }),
  output: WebhookCall,
  example: { type: "run.completed", metadata: { order: "4711" } },
  async handle({ type, metadata }, request, { ids }: { ids: Ids }) {
    const { event_id, created_at } = await triggerListeners(ids, request, { type, ...(metadata && { metadata }) });
    return { event_id: `evt_${event_id}`, type, created_at: created_at.toISOString() };
  },
});

import { z } from "zod";
import { runFields } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { WebhookCall } from "../../kit/schemas/listeners.ts";
import { WEBHOOK_EVENTS } from "../../kit/schemas/webhooks.ts";

export const triggerWebhook = defineOperation({
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
  respond: (input, services) => services.webhooks.listeners.trigger(input),
});

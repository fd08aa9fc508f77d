import { z } from "zod";
import { runFields } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { WEBHOOK_EVENTS, WebhookDelivery, webhookId } from "../../kit/schemas/webhooks.ts";

export const testWebhook = defineOperation({
  name: "webhooks.test",
  summary: "Send a test message to a webhook. Gesso tries `webhook.test` once and retries other types as usual",
  http: { method: "POST", path: "/webhooks/:webhook_id/test", bodies: ["json"], status: 202 },
  input: z.object({
    webhook_id: webhookId(),
    type: z
      .enum(["webhook.test", ...WEBHOOK_EVENTS])
      .default("webhook.test")
      .describe("Event type of the test message. Run events describe a sample run. Default: webhook.test"),
    metadata: runFields.metadata.describe("Metadata of the sample run"),
  }),
  output: WebhookDelivery,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", type: "webhook.test" },
  respond: ({ webhook_id, ...request }, services) => services.webhooks.deliveries.sendTest(webhook_id, request),
});

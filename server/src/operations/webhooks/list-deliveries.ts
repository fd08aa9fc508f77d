import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { DELIVERY_STATUSES, WebhookDeliveryPage, webhookId } from "../../kit/shapes-webhooks.ts";

export const listWebhookDeliveries = defineOperation({
  name: "webhooks.deliveries.list",
  summary: "What was sent, is being sent and could not be sent, newest first",
  http: { method: "GET", path: "/webhooks/deliveries" },
  input: z.object({
    ...perPage,
    webhook_id: webhookId("Only those of this webhook").optional(),
    run_id: runId("Only those that tell of this run").optional(),
    status: z.enum(DELIVERY_STATUSES).optional().describe("Only those that stand so"),
  }),
  output: WebhookDeliveryPage,
  example: { status: "exhausted" },
  answer: (input, ask) => ask.webhooks.deliveries(input),
});

import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { DELIVERY_STATUSES, WebhookDeliveryPage, webhookId } from "../../kit/schemas/webhooks.ts";

export const listWebhookDeliveries = defineOperation({
  name: "webhooks.deliveries.list",
  summary: "What was sent, is being sent and could not be sent, newest first",
  http: { method: "GET", path: "/webhooks/deliveries" },
  input: z.object({
    ...paginationFields,
    webhook_id: webhookId("Only those of this webhook").optional(),
    run_id: runId("Only those that tell of this run").optional(),
    status: z.enum(DELIVERY_STATUSES).optional().describe("Only those that stand so"),
  }),
  output: WebhookDeliveryPage,
  example: { status: "exhausted" },
  respond: (input, ask) => ask.webhooks.deliveries(input),
});

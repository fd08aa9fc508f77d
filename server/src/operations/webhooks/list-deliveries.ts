import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { DELIVERY_STATUSES, WebhookDeliveryPage, webhookId } from "../../kit/schemas/webhooks.ts";

export const listWebhookDeliveries = defineOperation({
  name: "webhooks.deliveries.list",
  summary: "List webhook deliveries, newest first",
  http: { method: "GET", path: "/webhooks/deliveries" },
  input: z.object({
    ...paginationFields,
    webhook_id: webhookId("Only deliveries of this webhook").optional(),
    run_id: runId("Only deliveries about this run").optional(),
    status: z.enum(DELIVERY_STATUSES).optional().describe("Only deliveries with this status"),
  }),
  output: WebhookDeliveryPage,
  example: { status: "exhausted" },
  respond: (input, services) => services.webhooks.deliveries.list(input),
});

import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { runId } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { DELIVERY_STATUSES, WebhookDeliveryPage, webhookId } from "../../contract/schemas/webhooks.ts";
import { listDeliveries } from "../../db/webhooks/deliveries.ts";
import { renderDelivery } from "../../webhooks/delivery.ts";
import { defineQuery } from "../define-query.ts";

export const listWebhookDeliveries = defineQuery({
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
  handle: ({ limit: size, cursor, ...filter }, { cursors, database, caller }) =>
    paginate(
      cursors,
      { limit: size, cursor },
      {
        scope: ["deliveries", caller.tenant_id, filter],
        read: (before, limit) => listDeliveries(database, caller.tenant_id, { ...filter, before }, limit),
        cursorId: (row) => row.delivery_id,
        render: renderDelivery,
      },
    ),
});

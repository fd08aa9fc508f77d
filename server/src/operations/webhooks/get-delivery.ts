import { z } from "zod";
import { deliveryId, WebhookDeliveryDetails } from "../../contract/schemas/webhooks.ts";
import { listDeliveryAttempts } from "../../db/webhooks/deliveries.ts";
import { renderDelivery, requireDelivery } from "../../webhooks/delivery.ts";
import { defineQuery } from "../define-query.ts";

export const getWebhookDelivery = defineQuery({
  name: "webhooks.deliveries.get",
  summary: "Get a delivery with its body and all attempts",
  http: { method: "GET", path: "/webhooks/deliveries/:delivery_id" },
  input: z.object({ delivery_id: deliveryId() }),
  output: WebhookDeliveryDetails,
  example: { delivery_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ delivery_id }, request) {
    const row = await requireDelivery(request, delivery_id);
    const attempts = await listDeliveryAttempts(request.database, request.caller.tenant_id, delivery_id);
    const log = attempts.map(({ started_at, ...each }) => ({ ...each, started_at: started_at.toISOString() }));
    return { ...renderDelivery(row), body: row.body, log };
  },
});

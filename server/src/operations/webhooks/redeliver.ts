import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { deliveryId, WebhookDelivery } from "../../kit/schemas/webhooks.ts";

export const redeliverWebhook = defineOperation({
  name: "webhooks.deliveries.redeliver",
  summary: "Send a delivery again at once, with the same ID and body",
  http: { method: "POST", path: "/webhooks/deliveries/:delivery_id/redeliver", status: 202 },
  input: z.object({ delivery_id: deliveryId() }),
  output: WebhookDelivery,
  example: { delivery_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.webhooks.deliveries.redeliver(input.delivery_id),
});

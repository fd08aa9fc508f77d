import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { deliveryId, WebhookDeliveryDetails } from "../../kit/schemas/webhooks.ts";

export const getWebhookDelivery = defineOperation({
  name: "webhooks.deliveries.get",
  summary: "Get a delivery with its body and all attempts",
  http: { method: "GET", path: "/webhooks/deliveries/:delivery_id" },
  input: z.object({ delivery_id: deliveryId() }),
  output: WebhookDeliveryDetails,
  example: { delivery_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.webhooks.deliveries.get(input.delivery_id),
});

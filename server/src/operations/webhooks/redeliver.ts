import { z } from "zod";
import type { RequestContext } from "../../access/request-context.ts";
import { deliveryId, WebhookDelivery } from "../../contract/schemas/webhooks.ts";
import { reopenDeliveries } from "../../db/webhooks/deliveries.ts";
import { findWebhook } from "../../db/webhooks/endpoints.ts";
import { Fault } from "../../faults/faults.ts";
import type { Ids } from "../../runtime/clock.ts";
import { renderDelivery, requireDelivery } from "../../webhooks/delivery.ts";
import { deliveryDestination } from "../../webhooks/destination.ts";
import { isListenerDelivery, triggerListeners } from "../../webhooks/listener-trigger.ts";
import { disableAfterSeconds, type WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

export const redeliverWebhook = defineQuery({
  name: "webhooks.deliveries.redeliver",
  summary: "Send a delivery again at once, with the same ID and body",
  http: { method: "POST", path: "/webhooks/deliveries/:delivery_id/redeliver", status: 202 },
  input: z.object({ delivery_id: deliveryId() }),
  output: WebhookDelivery,
  example: { delivery_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ delivery_id }, request, services: Pick<WebhookService, "webhookSettings"> & { ids: Ids }) {
    const { database, caller } = request;
    const row = await requireDelivery(request, delivery_id);
    if (row.body === null) throw new Fault("run_deleted");
    if (isListenerDelivery(row)) {
      await triggerListeners(services.ids, request, { delivery_id });
      return renderDelivery(row);
    }
    // The current URL of the endpoint, which may have changed since.
    const url = row.webhook_id ? await findEndpointUrl(request, row.webhook_id) : row.url;
    const route = { delivery_id, url, ...deliveryDestination({ ...row, url }) };
    await reopenDeliveries(database, caller.tenant_id, [route], disableAfterSeconds(services));
    return renderDelivery(await requireDelivery(request, delivery_id));
  },
});

async function findEndpointUrl({ database, caller }: RequestContext, webhookId: string): Promise<string> {
  const endpoint = await findWebhook(database, caller.tenant_id, webhookId);
  if (endpoint?.enabled) return endpoint.url;
  throw new Fault("conflict", { retryable: false, reason: endpoint ? "webhook_disabled" : "webhook_deleted" });
}

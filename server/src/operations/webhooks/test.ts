import { z } from "zod";
import { runFields } from "../../contract/fields.ts";
import { WEBHOOK_EVENTS, WebhookDelivery, webhookId } from "../../contract/schemas/webhooks.ts";
import { insertMissingDeliveries } from "../../db/webhooks/deliveries.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";
import { renderDelivery } from "../../webhooks/delivery.ts";
import { deliveryDestination } from "../../webhooks/destination.ts";
import { findOwnWebhook } from "../../webhooks/endpoint.ts";
import { renderSampleBody } from "../../webhooks/sample-message.ts";
import { disableAfterSeconds, type WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<WebhookService, "webhookSettings"> & { ids: Ids; clock: Clock };

const NEW_DELIVERY_STATE = { status: "pending", attempts: 0, next_attempt_at: null, finished_at: null } as const;

export const testWebhook = defineQuery({
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
  async handle({ webhook_id, type, metadata }, request, services: Needs) {
    const { tenant_id, url } = await findOwnWebhook(request, webhook_id);
    const now = new Date(services.clock.now());
    const [event_id, delivery_id] = [services.ids.next(), services.ids.next()];
    const message = { tenant_id, webhook_id, url, type, event_id, run_id: null };
    const body = renderSampleBody(type, { webhook_id, now, metadata });
    await insertMissingDeliveries(
      request.database,
      [{ ...message, delivery_id, body, ...deliveryDestination(message) }],
      disableAfterSeconds(services),
    );
    return renderDelivery({ ...message, delivery_id, body, ...NEW_DELIVERY_STATE, created_at: now });
  },
});

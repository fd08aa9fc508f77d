import { z } from "zod";
import { Webhook, webhookId } from "../../contract/schemas/webhooks.ts";
import { findOwnWebhook, renderWebhook } from "../../webhooks/endpoint.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

export const getWebhook = defineQuery({
  name: "webhooks.get",
  summary: "Get a webhook and its delivery health",
  http: { method: "GET", path: "/webhooks/:webhook_id" },
  input: z.object({ webhook_id: webhookId() }),
  output: Webhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ webhook_id }, request, services: Pick<WebhookService, "keysUrl">) =>
    renderWebhook(services, await findOwnWebhook(request, webhook_id)),
});

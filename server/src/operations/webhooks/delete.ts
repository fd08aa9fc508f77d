import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { Webhook, webhookId } from "../../contract/schemas/webhooks.ts";
import { deleteWebhookRow } from "../../db/webhooks/endpoints.ts";
import { renderWebhook, requireWebhook } from "../../webhooks/endpoint.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

export const deleteWebhook = defineQuery({
  name: "webhooks.delete",
  summary: "Delete a webhook, its secrets and its pending deliveries",
  http: { method: "DELETE", path: "/webhooks/:webhook_id" },
  input: z.object({ webhook_id: webhookId() }),
  output: Webhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ webhook_id }, { database, caller }, services: Pick<WebhookService, "keysUrl">) {
    assertNotAccessToken(caller);
    return renderWebhook(services, requireWebhook(await deleteWebhookRow(database, caller, webhook_id)));
  },
});

import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import { Webhook, webhookDescription, webhookEvents, webhookId, webhookUrl } from "../../contract/schemas/webhooks.ts";
import { updateWebhookRow } from "../../db/webhooks/endpoints.ts";
import { renderWebhook, requireWebhook } from "../../webhooks/endpoint.ts";
import { checkWebhookUrl } from "../../webhooks/webhook-policy.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<WebhookService, "httpClient" | "keysUrl">;

export const updateWebhook = defineQuery({
  name: "webhooks.update",
  summary: "Change the URL, events or description of a webhook, or enable and disable it",
  http: { method: "PATCH", path: "/webhooks/:webhook_id", bodies: ["json"] },
  changes: "access",
  input: z.object({
    webhook_id: webhookId(),
    url: webhookUrl().optional(),
    events: webhookEvents().optional().describe("All subscribed event types. They replace the previous ones"),
    description: webhookDescription().optional(),
    enabled: z.boolean().optional().describe("false disables the webhook and drops its pending deliveries"),
  }),
  rules: [atLeastOneChange("url", "events", "description", "enabled")],
  output: Webhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", enabled: true },
  async handle({ webhook_id, ...change }, { database, caller }, services: Needs) {
    assertNotAccessToken(caller);
    if (change.url !== undefined) checkWebhookUrl(services.httpClient, change.url);
    const host = change.url === undefined ? undefined : new URL(change.url).hostname;
    const row = await updateWebhookRow(database, caller, webhook_id, { ...change, host });
    return renderWebhook(services, requireWebhook(row));
  },
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { Webhook, webhookDescription, webhookEvents, webhookId, webhookUrl } from "../../kit/schemas/webhooks.ts";

export const updateWebhook = defineOperation({
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
  respond: ({ webhook_id, ...change }, services) => services.webhooks.update(webhook_id, change),
});

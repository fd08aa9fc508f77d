import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { Webhook, webhookDescription, webhookEvents, webhookId, webhookUrl } from "../../kit/schemas/webhooks.ts";

export const updateWebhook = defineOperation({
  name: "webhooks.update",
  summary: "Change where a webhook goes and what it is told of, or switch it off and on",
  http: { method: "PATCH", path: "/webhooks/:webhook_id", bodies: ["json"] },
  input: z.object({
    webhook_id: webhookId(),
    url: webhookUrl().optional(),
    events: webhookEvents().optional().describe("All that it is told of from now on"),
    description: webhookDescription().optional(),
    enabled: z.boolean().optional().describe("What waits to be sent is given up when it is switched off"),
  }),
  rules: [atLeastOneChange("url", "events", "description", "enabled")],
  output: Webhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", enabled: true },
  respond: ({ webhook_id, ...change }, ask) => ask.webhooks.update(webhook_id, change),
});

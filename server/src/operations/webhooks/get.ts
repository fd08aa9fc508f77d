import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Webhook, webhookId } from "../../kit/schemas/webhooks.ts";

export const getWebhook = defineOperation({
  name: "webhooks.get",
  summary: "Get a webhook and its delivery health",
  http: { method: "GET", path: "/webhooks/:webhook_id" },
  input: z.object({ webhook_id: webhookId() }),
  output: Webhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.webhooks.get(input.webhook_id),
});

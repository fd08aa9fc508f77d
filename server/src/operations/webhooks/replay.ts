import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { replayFromField, replayToField, WebhookReplay, webhookId } from "../../kit/schemas/webhooks.ts";

export const replayWebhook = defineOperation({
  name: "webhooks.replay",
  summary:
    "Send the events of a period to a webhook again, including events it never received. Event IDs stay the same",
  http: { method: "POST", path: "/webhooks/:webhook_id/replay", bodies: ["json"], status: 202 },
  input: z.object({
    webhook_id: webhookId(),
    from: replayFromField(),
    to: replayToField().optional(),
    only_failed: z.boolean().default(true).describe("Skip events that were delivered. Default: true"),
  }),
  output: WebhookReplay,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", from: "2026-11-14T10:00:00Z" },
  respond: ({ webhook_id, ...request }, services) => services.webhooks.deliveries.replay(webhook_id, request),
});

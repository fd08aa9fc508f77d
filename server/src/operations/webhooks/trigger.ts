import { z } from "zod";
import { runFields } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { WebhookCall } from "../../kit/schemas/listeners.ts";
import { WEBHOOK_EVENTS } from "../../kit/schemas/webhooks.ts";

export const triggerWebhook = defineOperation({
  name: "webhooks.trigger",
  summary: "Send a test message to all active listeners; webhook endpoints do not receive it",
  http: { method: "POST", path: "/webhooks/trigger", bodies: ["json"], status: 202 },
  input: z.object({
    type: z
      .enum(["webhook.test", ...WEBHOOK_EVENTS])
      .default("webhook.test")
      .describe("What it looks like; an event of a run tells of one that there never was"),
    metadata: runFields.metadata.describe("What such a run would have as its metadata"),
  }),
  output: WebhookCall,
  example: { type: "run.completed", metadata: { order: "4711" } },
  respond: (input, ask) => ask.webhooks.listeners.trigger(input),
});

import { z } from "zod";
import { everyRun } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { WebhookCall } from "../../kit/shapes-listeners.ts";
import { WEBHOOK_EVENTS } from "../../kit/shapes-webhooks.ts";

export const triggerWebhook = defineOperation({
  name: "webhooks.trigger",
  summary: "Have whoever listens pass a message on, to see whether it arrives; webhooks are not told of it",
  http: { method: "POST", path: "/webhooks/trigger", bodies: ["json"], status: 202 },
  input: z.object({
    type: z
      .enum(["webhook.test", ...WEBHOOK_EVENTS])
      .default("webhook.test")
      .describe("What it looks like; an event of a run tells of one that there never was"),
    metadata: everyRun.metadata.describe("What such a run would have as its metadata"),
  }),
  output: WebhookCall,
  example: { type: "run.completed", metadata: { order: "4711" } },
  answer: (input, ask) => ask.webhooks.listeners.call(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { NewWebhook, ownSecret, usualEvents, webhookDescription, webhookUrl } from "../../kit/shapes-webhooks.ts";

export const createWebhook = defineOperation({
  name: "webhooks.create",
  summary: "Have events sent to an address of yours; the secret is shown in this answer and never again",
  http: { method: "POST", path: "/webhooks", bodies: ["json"], status: 201 },
  input: z.object({
    url: webhookUrl(),
    events: usualEvents(),
    description: webhookDescription().optional(),
    secret: ownSecret().optional(),
  }),
  output: NewWebhook,
  example: { url: "https://example.com/hooks/gesso", events: ["run.completed", "run.failed"] },
  answer: (input, ask) => ask.webhooks.create(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { listenerName, NewWebhookListener } from "../../kit/schemas/listeners.ts";
import { webhookSecretField } from "../../kit/schemas/webhooks.ts";

export const createWebhookListener = defineOperation({
  name: "webhooks.listeners.create",
  summary: "Begin to pass messages on from a machine of your own; the secret is shown in this answer and never again",
  http: { method: "POST", path: "/webhooks/listeners", bodies: ["json"], status: 201 },
  input: z.object({ name: listenerName(), secret: webhookSecretField().optional() }),
  output: NewWebhookListener,
  example: { name: "workshop" },
  respond: (input, ask) => ask.webhooks.listeners.create(input),
});

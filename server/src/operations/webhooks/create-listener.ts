import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { listenerName, NewWebhookListener } from "../../kit/schemas/listeners.ts";
import { webhookSecretField } from "../../kit/schemas/webhooks.ts";

export const createWebhookListener = defineOperation({
  name: "webhooks.listeners.create",
  summary:
    "Register a listener that forwards webhook messages on your own machine. Only this response contains the secret",
  http: { method: "POST", path: "/webhooks/listeners", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ name: listenerName(), secret: webhookSecretField().optional() }),
  output: NewWebhookListener,
  example: { name: "workshop" },
  respond: (input, services) => services.webhooks.listeners.create(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { overlapSecondsField, WebhookSecret, webhookSecretField } from "../../kit/schemas/webhooks.ts";

export const rotateWebhookSecret = defineOperation({
  name: "webhooks.secret.rotate",
  summary: "Give the tenant a new secret, which signs for runs that name an address and bring no secret",
  http: { method: "POST", path: "/webhooks/secret/rotate", bodies: ["json"], status: 201 },
  input: z.object({ secret: webhookSecretField().optional(), overlap_seconds: overlapSecondsField() }),
  output: WebhookSecret,
  example: { overlap_seconds: 86400 },
  respond: (input, ask) => ask.webhooks.rotateTenantSecret(input),
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { overlapSecondsField, WebhookSecret, webhookSecretField } from "../../kit/schemas/webhooks.ts";

export const rotateWebhookSecret = defineOperation({
  name: "webhooks.secret.rotate",
  summary: "Rotate the tenant's secret, which signs webhooks of runs without a webhook_secret",
  http: { method: "POST", path: "/webhooks/secret/rotate", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ secret: webhookSecretField().optional(), overlap_seconds: overlapSecondsField() }),
  output: WebhookSecret,
  example: { overlap_seconds: 86400 },
  respond: (input, services) => services.webhooks.secrets.rotateForTenant(input),
});

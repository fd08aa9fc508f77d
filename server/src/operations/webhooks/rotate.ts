import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { NewWebhook, overlapSecondsField, webhookId, webhookSecretField } from "../../kit/schemas/webhooks.ts";

export const rotateWebhook = defineOperation({
  name: "webhooks.rotate",
  summary: "Rotate the secret of a webhook. Gesso signs with both secrets during the overlap",
  http: { method: "POST", path: "/webhooks/:webhook_id/rotate", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    webhook_id: webhookId(),
    secret: webhookSecretField().optional(),
    overlap_seconds: overlapSecondsField(),
  }),
  output: NewWebhook,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", overlap_seconds: 86400 },
  respond: ({ webhook_id, ...rotation }, services) => services.webhooks.secrets.rotate(webhook_id, rotation),
});

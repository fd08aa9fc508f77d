import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { NewWebhook, overlapSecondsField, webhookId, webhookSecretField } from "../../contract/schemas/webhooks.ts";
import { findOwnWebhook, type RotationDependencies, renderWebhook, rotateSecret } from "../../webhooks/endpoint.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

export const rotateWebhook = defineQuery({
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
  async handle({ webhook_id, ...rotation }, request, services: RotationDependencies & Pick<WebhookService, "keysUrl">) {
    assertNotAccessToken(request.caller);
    const row = await findOwnWebhook(request, webhook_id);
    const { secret } = await rotateSecret(services, request, webhook_id, rotation);
    return { ...renderWebhook(services, row), secret };
  },
});

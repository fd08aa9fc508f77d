import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { overlapSecondsField, WebhookSecret, webhookSecretField } from "../../contract/schemas/webhooks.ts";
import { TENANT_SECRET_OWNER } from "../../db/webhooks/secrets.ts";
import { type RotationDependencies, rotateSecret } from "../../webhooks/endpoint.ts";
import { defineQuery } from "../define-query.ts";

export const rotateWebhookSecret = defineQuery({
  name: "webhooks.secret.rotate",
  summary: "Rotate the tenant's secret, which signs webhooks of runs without a webhook_secret",
  http: { method: "POST", path: "/webhooks/secret/rotate", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ secret: webhookSecretField().optional(), overlap_seconds: overlapSecondsField() }),
  output: WebhookSecret,
  example: { overlap_seconds: 86400 },
  async handle(rotation, request, services: RotationDependencies) {
    assertNotAccessToken(request.caller);
    return rotateSecret(services, request, TENANT_SECRET_OWNER, rotation);
  },
});

import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import {
  defaultEventsField,
  NewWebhook,
  webhookDescription,
  webhookSecretField,
  webhookUrl,
} from "../../contract/schemas/webhooks.ts";
import { findWebhook, insertWebhook, MAX_WEBHOOKS_PER_TENANT, type WebhookRow } from "../../db/webhooks/endpoints.ts";
import { Fault } from "../../faults/faults.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import type { Ids } from "../../runtime/clock.ts";
import { renderWebhook } from "../../webhooks/endpoint.ts";
import { generateWebhookSecret } from "../../webhooks/signing-secrets.ts";
import { checkWebhookUrl } from "../../webhooks/webhook-policy.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<WebhookService, "httpClient" | "secretCipher" | "keysUrl"> & { ids: Ids };

export const createWebhook = defineQuery({
  name: "webhooks.create",
  summary: "Create a webhook that sends events to a URL. Only this response contains the secret",
  http: { method: "POST", path: "/webhooks", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    url: webhookUrl(),
    events: defaultEventsField(),
    description: webhookDescription().optional(),
    secret: webhookSecretField().optional(),
  }),
  output: NewWebhook,
  example: { url: "https://example.com/hooks/gesso", events: ["run.completed", "run.failed"] },
  // A replay returns the endpoint without its secret.
  async handle({ secret: given, ...draft }, request, services: Needs) {
    const { database, caller } = request;
    assertNotAccessToken(caller);
    checkWebhookUrl(services.httpClient, draft.url);
    const [webhook_id, secret] = [services.ids.next(), given ?? generateWebhookSecret()];
    const secretId = { tenant_id: caller.tenant_id, owner_id: webhook_id, secret_id: services.ids.next() };
    const encrypted = services.secretCipher.encrypt(secretId, secret);
    const { url, events, description = null } = draft;
    const renderNew = (row: WebhookRow | undefined, shownSecret: string | null) =>
      row && { ...renderWebhook(services, row), secret: shownSecret };
    return createOnce<NewWebhook>(request, {
      operation: "webhooks.create",
      kind: "webhook",
      input: { ...draft, secret: given },
      async create(idempotency) {
        const newRow = { webhook_id, url, events, description, secret: encrypted, idempotency };
        return renderNew(await insertWebhook(database, caller, newRow), given === undefined ? secret : null);
      },
      find: async (webhookId) => renderNew(await findWebhook(database, caller.tenant_id, webhookId), null),
      explainRefusal: () =>
        new Fault("conflict", { retryable: false, reason: "too_many_webhooks", most: MAX_WEBHOOKS_PER_TENANT }),
    });
  },
});

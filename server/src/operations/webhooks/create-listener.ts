import { z } from "zod";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { listenerName, NewWebhookListener } from "../../contract/schemas/listeners.ts";
import { webhookSecretField } from "../../contract/schemas/webhooks.ts";
import { formatPosition, readLogHead } from "../../db/event-log.ts";
import { insertListener } from "../../db/webhooks/listeners.ts";
import type { RotationDependencies } from "../../webhooks/endpoint.ts";
import { listenerUrl } from "../../webhooks/listener-trigger.ts";
import { generateWebhookSecret } from "../../webhooks/signing-secrets.ts";
import { defineQuery } from "../define-query.ts";

export const createWebhookListener = defineQuery({
  name: "webhooks.listeners.create",
  summary:
    "Register a listener that forwards webhook messages on your own machine. Only this response contains the secret",
  http: { method: "POST", path: "/webhooks/listeners", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({ name: listenerName(), secret: webhookSecretField().optional() }),
  output: NewWebhookListener,
  example: { name: "workshop" },
  async handle({ name, secret: given }, { database, caller }, { secretCipher, ids }: RotationDependencies) {
    assertNotAccessToken(caller);
    const { tenant_id } = caller;
    const [listener_id, secret] = [ids.next(), given ?? generateWebhookSecret()];
    const encrypted = secretCipher.encrypt({ tenant_id, owner_id: listener_id, secret_id: ids.next() }, secret);
    const row = await insertListener(database, caller, { listener_id, name, secret: encrypted });
    return {
      ...{ id: listener_id, name, url: listenerUrl(name), secret: given === undefined ? secret : null },
      after: formatPosition(await readLogHead(database)),
      created_at: row.created_at.toISOString(),
    };
  },
});

import { z } from "zod";
import { eventPositionField, listenerId, WebhookMessage } from "../../contract/schemas/listeners.ts";
import { findDelivery } from "../../db/webhooks/deliveries.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";
import { buildListenerMessage, type ListenerDependencies } from "../../webhooks/listener-message.ts";
import { buildMessageHeaders } from "../../webhooks/message-headers.ts";
import { findSigningSecrets } from "../../webhooks/signing-secrets.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { defineQuery } from "../define-query.ts";

type Needs = ListenerDependencies & Pick<WebhookService, "secretCipher" | "signingKeys"> & { ids: Ids; clock: Clock };

export const webhookListenerMessage = defineQuery({
  name: "webhooks.listeners.message",
  summary: "Get the signed message of an event, for a listener to forward",
  http: { method: "POST", path: "/webhooks/listeners/:listener_id/message", bodies: ["json"] },
  input: z.object({ listener_id: listenerId(), place: eventPositionField() }),
  output: WebhookMessage,
  example: { listener_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", place: "00000000a1b2-00000000c3d4" },
  async handle({ listener_id, place }, request, services: Needs) {
    const { database, caller } = request;
    const { tenant_id } = caller;
    const message = await buildListenerMessage(services, request, listener_id, place);
    const { delivery_id, event_id, type, run_id, body } = message;
    const attempt = ((await findDelivery(database, tenant_id, delivery_id))?.attempts ?? 0) + 1;
    const owner = { tenant_id, webhook_id: listener_id, run_id: null };
    const secrets = await findSigningSecrets({ ...services, database }, owner);
    const headers = buildMessageHeaders(services, secrets, { tenant_id, event_id, body, attempt });
    return { delivery_id, event_id: `evt_${event_id}`, type, run_id, attempt, body, headers };
  },
});

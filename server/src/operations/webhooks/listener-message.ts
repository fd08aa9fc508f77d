import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { eventPositionField, listenerId, WebhookMessage } from "../../kit/schemas/listeners.ts";

export const webhookListenerMessage = defineOperation({
  name: "webhooks.listeners.message",
  summary: "Get the signed message of an event, for a listener to forward",
  http: { method: "POST", path: "/webhooks/listeners/:listener_id/message", bodies: ["json"] },
  input: z.object({ listener_id: listenerId(), place: eventPositionField() }),
  output: WebhookMessage,
  example: { listener_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", place: "00000000a1b2-00000000c3d4" },
  respond: ({ listener_id, place }, services) => services.webhooks.listeners.message(listener_id, place),
});

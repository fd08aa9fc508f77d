import { z } from "zod";
import {
  attemptNumber,
  deliveryErrorField,
  durationMsField,
  eventPositionField,
  listenerId,
  responseStatusField,
  responseTextField,
  startedAt,
} from "../../contract/schemas/listeners.ts";
import { WebhookDelivery } from "../../contract/schemas/webhooks.ts";
import { recordForward } from "../../db/webhooks/listeners.ts";
import { renderDelivery } from "../../webhooks/delivery.ts";
import { buildListenerMessage, type ListenerDependencies } from "../../webhooks/listener-message.ts";
import { defineQuery } from "../define-query.ts";

export const webhookListenerReport = defineQuery({
  name: "webhooks.listeners.report",
  summary: "Report the result of a forwarded message",
  http: { method: "POST", path: "/webhooks/listeners/:listener_id/report", bodies: ["json"] },
  input: z.object({
    listener_id: listenerId(),
    place: eventPositionField(),
    attempt: attemptNumber(),
    started_at: startedAt(),
    duration_ms: durationMsField(),
    status: responseStatusField(),
    error: deliveryErrorField().default(null),
    response: responseTextField().default(null),
  }),
  output: WebhookDelivery,
  example: {
    ...{ listener_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", place: "00000000a1b2-00000000c3d4", attempt: 1 },
    ...{ started_at: "2026-11-14T10:00:00Z", duration_ms: 12, status: 204 },
  },
  async handle({ listener_id, place, started_at, ...attempt }, request, services: ListenerDependencies) {
    const message = await buildListenerMessage(services, request, listener_id, place);
    const isDelivered = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
    const row = await recordForward(request.database, message, isDelivered ? "delivered" : "exhausted", {
      ...attempt,
      response: attempt.response?.replaceAll("\0", "").toWellFormed() ?? null,
      started_at: new Date(started_at),
    });
    return renderDelivery(row);
  },
});

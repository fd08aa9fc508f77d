import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import {
  attemptNumber,
  deliveryErrorField,
  durationMsField,
  eventPositionField,
  listenerId,
  responseStatusField,
  responseTextField,
  startedAt,
} from "../../kit/schemas/listeners.ts";
import { WebhookDelivery } from "../../kit/schemas/webhooks.ts";

export const webhookListenerReport = defineOperation({
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
  respond: ({ listener_id, ...report }, services) => services.webhooks.listeners.report(listener_id, report),
});

import { z } from "zod";
import { replayFromField, replayToField, WebhookReplay, webhookId } from "../../contract/schemas/webhooks.ts";
import { insertReplay } from "../../db/webhooks/replays.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";
import { findOwnWebhook } from "../../webhooks/endpoint.ts";
import { defineQuery } from "../define-query.ts";

export const replayWebhook = defineQuery({
  name: "webhooks.replay",
  summary:
    "Send the events of a period to a webhook again, including events it never received. Event IDs stay the same",
  http: { method: "POST", path: "/webhooks/:webhook_id/replay", bodies: ["json"], status: 202 },
  input: z.object({
    webhook_id: webhookId(),
    from: replayFromField(),
    to: replayToField().optional(),
    only_failed: z.boolean().default(true).describe("Skip events that were delivered. Default: true"),
  }),
  output: WebhookReplay,
  example: { webhook_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", from: "2026-11-14T10:00:00Z" },
  async handle({ webhook_id, from, to, only_failed }, request, { ids, clock }: { ids: Ids; clock: Clock }) {
    const { tenant_id, enabled } = await findOwnWebhook(request, webhook_id);
    if (!enabled) throw new Fault("conflict", { retryable: false, reason: "webhook_disabled" });
    const range = { from_at: new Date(from), to_at: new Date(to ?? clock.now()) };
    const newReplay = { replay_id: ids.next(), tenant_id, webhook_id, ...range, only_failed };
    const row = await insertReplay(request.database, newReplay);
    return {
      ...{ id: row.replay_id, webhook_id, only_failed, created_at: row.created_at.toISOString() },
      ...{ from: row.from_at.toISOString(), to: row.to_at.toISOString() },
    };
  },
});

// The log of deliveries, in the name of one caller, and one of them sent again: the same id and the same bytes.
import { paginate } from "../access/pagination.ts";
import {
  type DeliveryAttemptRow,
  type DeliveryRow,
  findDelivery,
  listDeliveries,
  listDeliveryAttempts,
  reopenDeliveries,
} from "../db/webhooks/deliveries.ts";
import { findWebhook } from "../db/webhooks/endpoints.ts";
import { Fault } from "../faults.ts";
import type { WebhookAttempt, WebhookDelivery } from "../kit/schemas/webhooks.ts";
import type { WebhookStore } from "../kit/webhook-store.ts";
import { deliveryDestination } from "./destination.ts";
import { isListenerDelivery, triggerListeners } from "./listener-trigger.ts";
import type { Counter } from "./webhook-request-context.ts";
import { disableAfterSeconds } from "./webhook-service.ts";

export function createDeliveryStore(
  counter: Pick<Counter, "db" | "caller" | "cursors" | "settings" | "newId">,
): Pick<WebhookStore, "deliveries" | "delivery" | "redeliver"> {
  const { db, cursors, caller } = counter;
  const own = async (id: string): Promise<DeliveryRow> => {
    const row = await findDelivery(db, caller.tenant_id, id);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  return {
    deliveries: ({ limit, cursor, ...filter }) =>
      paginate(
        cursors,
        { limit, cursor },
        {
          scope: ["deliveries", caller.tenant_id, filter],
          read: (before, most) => listDeliveries(db, caller.tenant_id, { ...filter, before }, most),
          cursorId: (row) => row.delivery_id,
          show: renderDelivery,
        },
      ),
    async delivery(id) {
      const row = await own(id);
      const log = (await listDeliveryAttempts(db, caller.tenant_id, id)).map(showAttempt);
      return { ...renderDelivery(row), body: row.body, log };
    },
    async redeliver(id) {
      const row = await own(id);
      if (row.body === null) throw new Fault("run_deleted");
      if (isListenerDelivery(row)) {
        await triggerListeners(counter, { delivery_id: id });
        return renderDelivery(row);
      }
      // Where the webhook is now, which need not be where it was then.
      const url = row.webhook_id ? await findEndpointUrl(db, caller.tenant_id, row.webhook_id) : row.url;
      const route = { delivery_id: id, url, ...deliveryDestination({ ...row, url }) };
      await reopenDeliveries(db, caller.tenant_id, [route], disableAfterSeconds(counter));
      return renderDelivery(await own(id));
    },
  };
}

async function findEndpointUrl(db: Counter["db"], tenantId: string, webhookId: string): Promise<string> {
  const hook = await findWebhook(db, tenantId, webhookId);
  if (hook?.enabled) return hook.url;
  throw new Fault("conflict", { retryable: false, reason: hook ? "webhook_disabled" : "webhook_deleted" });
}

const time = (at: Date | null) => at?.toISOString() ?? null;

export const renderDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.delivery_id,
  event_id: `evt_${row.event_id}`,
  type: row.type,
  webhook_id: row.webhook_id,
  run_id: row.run_id,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: time(row.next_attempt_at),
  created_at: row.created_at.toISOString(),
  finished_at: time(row.finished_at),
});

const showAttempt = ({ started_at, ...row }: DeliveryAttemptRow): WebhookAttempt => ({
  ...row,
  started_at: started_at.toISOString(),
});

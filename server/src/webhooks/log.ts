// The log of deliveries, in the name of one caller, and one of them sent again: the same id and the same bytes.
import { pageOf } from "../access/pages.ts";
import {
  type AttemptRow,
  type DeliveryRow,
  findDelivery,
  listAttempts,
  listDeliveries,
  reopenDeliveries,
} from "../db/webhook-deliveries.ts";
import { findWebhook } from "../db/webhooks.ts";
import { Fault } from "../faults.ts";
import type { WebhookAttempt, WebhookDelivery } from "../kit/shapes-webhooks.ts";
import type { WebhookLibrary } from "../kit/webhooks.ts";
import type { Counter } from "./counter.ts";
import { call, isListeners } from "./listener-call.ts";
import { failingSeconds } from "./office.ts";
import { routeOf } from "./route.ts";

export function deliveriesOf(
  counter: Pick<Counter, "db" | "caller" | "cursors" | "settings" | "newId">,
): Pick<WebhookLibrary, "deliveries" | "delivery" | "redeliver"> {
  const { db, cursors, caller } = counter;
  const own = async (id: string): Promise<DeliveryRow> => {
    const row = await findDelivery(db, caller.tenant_id, id);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  return {
    deliveries: ({ limit, cursor, ...filter }) =>
      pageOf(
        cursors,
        { limit, cursor },
        {
          scope: ["deliveries", caller.tenant_id, filter],
          read: (before, most) => listDeliveries(db, caller.tenant_id, { ...filter, before }, most),
          idOf: (row) => row.delivery_id,
          show: showDelivery,
        },
      ),
    async delivery(id) {
      const row = await own(id);
      const log = (await listAttempts(db, caller.tenant_id, id)).map(showAttempt);
      return { ...showDelivery(row), body: row.body, log };
    },
    async redeliver(id) {
      const row = await own(id);
      if (row.body === null) throw new Fault("run_deleted");
      if (isListeners(row)) {
        await call(counter, { delivery_id: id });
        return showDelivery(row);
      }
      // Where the webhook is now, which need not be where it was then.
      const url = row.webhook_id ? await addressOf(db, caller.tenant_id, row.webhook_id) : row.url;
      const route = { delivery_id: id, url, ...routeOf({ ...row, url }) };
      await reopenDeliveries(db, caller.tenant_id, [route], failingSeconds(counter));
      return showDelivery(await own(id));
    },
  };
}

async function addressOf(db: Counter["db"], tenantId: string, webhookId: string): Promise<string> {
  const hook = await findWebhook(db, tenantId, webhookId);
  if (hook?.enabled) return hook.url;
  throw new Fault("conflict", { retryable: false, reason: hook ? "webhook_disabled" : "webhook_deleted" });
}

const time = (at: Date | null) => at?.toISOString() ?? null;

export const showDelivery = (row: DeliveryRow): WebhookDelivery => ({
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

const showAttempt = ({ started_at, ...row }: AttemptRow): WebhookAttempt => ({
  ...row,
  started_at: started_at.toISOString(),
});

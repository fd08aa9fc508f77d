// Webhook deliveries of the caller's tenant: lists them, and redelivers one with the same id and the same bytes.
import { paginate } from "../access/pagination.ts";
import type { RequestContext } from "../access/request-context.ts";
import type { Database } from "../db/connect.ts";
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
import type { Ids } from "../kit/clock.ts";
import type { WebhookAttempt, WebhookDelivery } from "../kit/schemas/webhooks.ts";
import type { WebhookDeliveries } from "../kit/webhook-store.ts";
import { deliveryDestination } from "./destination.ts";
import { isListenerDelivery, triggerListeners } from "./listener-trigger.ts";
import { disableAfterSeconds, type WebhookService } from "./webhook-service.ts";

export function createDeliveryStore(
  services: Pick<WebhookService, "webhookSettings"> & { ids: Ids },
  context: RequestContext,
): Pick<WebhookDeliveries, "list" | "get" | "redeliver"> {
  const { database, cursors, caller } = context;
  const requireDelivery = async (id: string): Promise<DeliveryRow> => {
    const row = await findDelivery(database, caller.tenant_id, id);
    if (!row) throw new Fault("route_not_found");
    return row;
  };
  return {
    list: ({ limit, cursor, ...filter }) =>
      paginate(
        cursors,
        { limit, cursor },
        {
          scope: ["deliveries", caller.tenant_id, filter],
          read: (before, max) => listDeliveries(database, caller.tenant_id, { ...filter, before }, max),
          cursorId: (row) => row.delivery_id,
          render: renderDelivery,
        },
      ),
    async get(id) {
      const row = await requireDelivery(id);
      const log = (await listDeliveryAttempts(database, caller.tenant_id, id)).map(renderDeliveryAttempt);
      return { ...renderDelivery(row), body: row.body, log };
    },
    async redeliver(id) {
      const row = await requireDelivery(id);
      if (row.body === null) throw new Fault("run_deleted");
      if (isListenerDelivery(row)) {
        await triggerListeners(services.ids, context, { delivery_id: id });
        return renderDelivery(row);
      }
      // The current URL of the endpoint, which may have changed since.
      const url = row.webhook_id ? await findEndpointUrl(database, caller.tenant_id, row.webhook_id) : row.url;
      const route = { delivery_id: id, url, ...deliveryDestination({ ...row, url }) };
      await reopenDeliveries(database, caller.tenant_id, [route], disableAfterSeconds(services));
      return renderDelivery(await requireDelivery(id));
    },
  };
}

async function findEndpointUrl(database: Database, tenantId: string, webhookId: string): Promise<string> {
  const endpoint = await findWebhook(database, tenantId, webhookId);
  if (endpoint?.enabled) return endpoint.url;
  throw new Fault("conflict", { retryable: false, reason: endpoint ? "webhook_disabled" : "webhook_deleted" });
}

const toTimestamp = (at: Date | null) => at?.toISOString() ?? null;

export const renderDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.delivery_id,
  event_id: `evt_${row.event_id}`,
  type: row.type,
  webhook_id: row.webhook_id,
  run_id: row.run_id,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: toTimestamp(row.next_attempt_at),
  created_at: row.created_at.toISOString(),
  finished_at: toTimestamp(row.finished_at),
});

const renderDeliveryAttempt = ({ started_at, ...row }: DeliveryAttemptRow): WebhookAttempt => ({
  ...row,
  started_at: started_at.toISOString(),
});

// A webhook delivery of the caller's tenant, as the API shows it.
import type { RequestContext } from "../access/request-context.ts";
import type { WebhookDelivery } from "../contract/schemas/webhooks.ts";
import { type DeliveryRow, findDelivery } from "../db/webhooks/deliveries.ts";
import { Fault } from "../faults/faults.ts";

export async function requireDelivery({ database, caller }: RequestContext, id: string): Promise<DeliveryRow> {
  const row = await findDelivery(database, caller.tenant_id, id);
  if (!row) throw new Fault("route_not_found");
  return row;
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

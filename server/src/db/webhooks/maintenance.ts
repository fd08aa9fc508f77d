// Deletes expired rows of webhook tables.
import type { Database } from "../connect.ts";
import { deleteBatches, deleteBatchSql, FIRST_ID, FIRST_TIME } from "../delete-batches.ts";
import { statement } from "../statement.ts";

/** An id has the time of its run. A delivery that is open, such as one of a replay, stays whatever its age. */
const isOldDelivery = (table: string) => `delivery_id < uuid_floor(now() - make_interval(days => :days))
  and not exists (select from open_deliveries where open_deliveries.delivery_id = ${table}.delivery_id)`;

const DELETE_ATTEMPTS = statement(
  "webhooks.delete_attempts",
  deleteBatchSql({ table: "webhook_attempts", key: "delivery_id", isExpired: isOldDelivery("webhook_attempts") }),
).columns<{ deleted: number }>();
const DELETE_DELIVERIES = statement(
  "webhooks.delete_deliveries",
  deleteBatchSql({ table: "webhook_deliveries", key: "delivery_id", isExpired: isOldDelivery("webhook_deliveries") }),
).columns<{ deleted: number }>();
const DELETE_SECRETS = statement(
  "webhooks.delete_secrets",
  deleteBatchSql({ table: "webhook_secrets", key: "ends_at", isExpired: "ends_at < now()" }),
).columns<{ deleted: number }>();
const DELETE_REPLAYS = statement(
  "webhooks.delete_replays",
  "delete from webhook_replays where created_at < now() - make_interval(days => :days)",
);
const DELETE_BREAKERS = statement(
  "webhooks.delete_breakers",
  "delete from webhook_circuit_breakers where changed_at < now() - interval '1 day'",
);
const DELETE_PROGRESS = statement(
  "webhooks.delete_progress",
  "delete from webhook_progress_sent where sent_at < now() - interval '7 days'",
);
const DELETE_SET_ASIDE_EVENTS = statement(
  "webhooks.delete_set_aside_events",
  "delete from webhook_set_aside_events where set_aside_at < now() - make_interval(days => :days)",
);

/**
 * Deletes deliveries after `days` days, and secrets that no longer sign. Returns whether there is more to delete.
 */
export async function runWebhookMaintenance(db: Database, days: number): Promise<boolean> {
  const hasMore = [
    await deleteBatches<string>(FIRST_ID, (page) => db.execute(DELETE_ATTEMPTS, { days, ...page })),
    await deleteBatches<string>(FIRST_ID, (page) => db.execute(DELETE_DELIVERIES, { days, ...page })),
    await deleteBatches(FIRST_TIME, (page) => db.execute(DELETE_SECRETS, page)),
  ];
  await db.execute(DELETE_REPLAYS, { days });
  await db.execute(DELETE_BREAKERS);
  await db.execute(DELETE_PROGRESS);
  await db.execute(DELETE_SET_ASIDE_EVENTS, { days });
  return hasMore.includes(true);
}

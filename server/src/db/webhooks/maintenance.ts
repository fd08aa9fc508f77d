// Deletes expired rows of webhook tables.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const BATCH = 10_000;

const DROP_PARTITIONS = statement(
  "webhooks.drop_partitions",
  "select drop_webhook_partitions((now() at time zone 'UTC')::date - :days::int)",
);
const DELETE_SECRETS = statement(
  "webhooks.delete_secrets",
  `delete from webhook_secrets where (tenant_id, owner_id, secret_id) in (
     select tenant_id, owner_id, secret_id from webhook_secrets where ends_at < now() limit :limit)`,
);
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

/** Drops partitions of the delivery log after `days` days, and deletes secrets that no longer sign. */
export async function runWebhookMaintenance(db: Database, days: number): Promise<void> {
  await db.execute(DROP_PARTITIONS, { days });
  await db.execute(DELETE_SECRETS, { limit: BATCH });
  await db.execute(DELETE_REPLAYS, { days });
  await db.execute(DELETE_BREAKERS);
  await db.execute(DELETE_PROGRESS);
  await db.execute(DELETE_SET_ASIDE_EVENTS, { days });
}

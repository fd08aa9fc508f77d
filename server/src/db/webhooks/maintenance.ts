// What keeps the tables of webhooks small.
import type { Database } from "../connect.ts";

const BATCH = 10_000;

/** Days of the log go whole; secrets go when they sign nothing any more. */
export async function runWebhookMaintenance(db: Database, days: number): Promise<void> {
  await db.query("webhooks.dropDays", "select drop_webhook_days((now() at time zone 'UTC')::date - $1::int)", [days]);
  await db.query(
    "webhooks.dropSecrets",
    `delete from webhook_secrets where (tenant_id, owner_id, secret_id) in (
       select tenant_id, owner_id, secret_id from webhook_secrets where ends_at < now() limit $1)`,
    [BATCH],
  );
  await db.query(
    "webhooks.dropReplays",
    "delete from webhook_replays where created_at < now() - make_interval(days => $1)",
    [days],
  );
  await db.query("webhooks.dropHealth", "delete from webhook_health where changed_at < now() - interval '1 day'");
  await db.query("webhooks.dropProgress", "delete from webhook_progress where told_at < now() - interval '7 days'");
}

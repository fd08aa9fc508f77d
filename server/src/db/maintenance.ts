// What keeps the tables small and the days ahead prepared.
import type { Database } from "./connect.ts";

const DAYS_AHEAD = 8;
const IDEMPOTENCY_KEY_DAYS = 7;
const BATCH = 10_000;

export async function runMaintenance(db: Database): Promise<void> {
  await db.query("tidy.partitions", "select make_partitions((now() at time zone 'UTC')::date, $1)", [DAYS_AHEAD]);
  await db.query(
    "tidy.keys",
    `delete from idempotency_keys where (tenant_id, key) in (
       select tenant_id, key from idempotency_keys where created_at < now() - make_interval(days => $1) limit $2)`,
    [IDEMPOTENCY_KEY_DAYS, BATCH],
  );
  await db.query("tidy.buckets", "delete from buckets where filled_at < now() - interval '1 hour'");
  await db.query("tidy.pace", "delete from queue_pace where noted_at < now() - interval '1 hour'");
  await db.query("tidy.budgets", "delete from budgets where ends_at < now() - interval '1 day'");
  await db.query("tidy.leases", "delete from leases where until < now() - interval '1 hour'");
}

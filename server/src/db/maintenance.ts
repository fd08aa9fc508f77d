// Creates the partitions of the next days and deletes expired rows.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

const DAYS_AHEAD = 8;
const IDEMPOTENCY_KEY_DAYS = 7;
const BATCH = 10_000;

const CREATE_PARTITIONS = statement(
  "maintenance.partitions",
  "select create_partitions((now() at time zone 'UTC')::date, :days)",
);
const DELETE_IDEMPOTENCY_KEYS = statement(
  "maintenance.idempotency_keys",
  `delete from idempotency_keys where (tenant_id, key) in (
     select tenant_id, key from idempotency_keys where created_at < now() - make_interval(days => :days) limit :limit)`,
);
const DELETE_TOKEN_BUCKETS = statement(
  "maintenance.token_buckets",
  "delete from token_buckets where filled_at < now() - interval '1 hour'",
);
const DELETE_START_RATES = statement(
  "maintenance.queue_start_rates",
  "delete from queue_start_rates where measured_at < now() - interval '1 hour'",
);
const DELETE_BUDGETS = statement("maintenance.budgets", "delete from budgets where ends_at < now() - interval '1 day'");
const DELETE_LEASES = statement("maintenance.leases", "delete from leases where until < now() - interval '1 hour'");

export async function runMaintenance(db: Database): Promise<void> {
  await db.execute(CREATE_PARTITIONS, { days: DAYS_AHEAD });
  await db.execute(DELETE_IDEMPOTENCY_KEYS, { days: IDEMPOTENCY_KEY_DAYS, limit: BATCH });
  await db.execute(DELETE_TOKEN_BUCKETS);
  await db.execute(DELETE_START_RATES);
  await db.execute(DELETE_BUDGETS);
  await db.execute(DELETE_LEASES);
}

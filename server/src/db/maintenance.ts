// Deletes expired rows. Takes no lock that a reader or writer waits for.
import type { Database } from "./connect.ts";
import { deleteBatches, deleteBatchSql, FIRST_TIME } from "./delete-batches.ts";
import { deleteOldEvents } from "./event-log.ts";
import { statement } from "./statement.ts";

const IDEMPOTENCY_KEY_DAYS = 7;

const DELETE_IDEMPOTENCY_KEYS = statement(
  "maintenance.idempotency_keys",
  deleteBatchSql({
    table: "idempotency_keys",
    key: "created_at",
    isExpired: "created_at < now() - make_interval(days => :days)",
  }),
).columns<{ deleted: number }>();
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
/** A session that was not used for 12 hours, or is older than 7 days, is refused before it is deleted. */
const DELETE_SESSIONS = statement(
  "maintenance.console_sessions",
  "delete from console_sessions where last_seen_at < now() - interval '1 day'",
);
const DELETE_CODES = statement(
  "maintenance.console_codes",
  "delete from console_codes where expires_at < now() - interval '1 hour'",
);
const DELETE_LOGOUT_TOKENS = statement(
  "maintenance.used_logout_tokens",
  "delete from used_logout_tokens where expires_at < now() - interval '1 hour'",
);
const DELETE_CLIENT_REQUESTS = statement(
  "maintenance.client_requests",
  "delete from client_requests where created_at < now() - interval '1 hour'",
);

/** Deletes events after `eventDays` days. Returns whether there is more to delete. */
export async function runMaintenance(db: Database, eventDays: number): Promise<boolean> {
  const hasMoreKeys = await deleteBatches(FIRST_TIME, (page) =>
    db.execute(DELETE_IDEMPOTENCY_KEYS, { days: IDEMPOTENCY_KEY_DAYS, ...page }),
  );
  const hasMoreEvents = await deleteOldEvents(db, eventDays);
  await db.execute(DELETE_TOKEN_BUCKETS);
  await db.execute(DELETE_START_RATES);
  await db.execute(DELETE_BUDGETS);
  await db.execute(DELETE_LEASES);
  await db.execute(DELETE_SESSIONS);
  await db.execute(DELETE_CODES);
  await db.execute(DELETE_LOGOUT_TOKENS);
  await db.execute(DELETE_CLIENT_REQUESTS);
  return hasMoreKeys || hasMoreEvents;
}

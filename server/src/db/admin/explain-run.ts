// Everything that the database knows about one run, for operators. Only ids, times, states and amounts: no statement
// reads the input of a run or the content of a message.
import { TENANT_BUDGET_HOLDER } from "../money/budgets.ts";
import { readRunLedger } from "../money/run-ledger.ts";
import { deadlineSql } from "../run-claims.ts";
import { findQueueRank } from "../runs/queue.ts";
import type { Snapshot } from "../snapshot.ts";
import { statement } from "../statement.ts";

const FIND_RUN = statement(
  "explain.find_run",
  `select runs.run_id, runs.tenant_id, runs.user_id, runs.key_id, runs.operation, runs.status, runs.model,
     runs.schema_hash, runs.provider, runs.error, runs.created_at, runs.started_at, runs.finished_at, runs.cancel_requested_at,
     tenants.suspended_at
   from runs left join tenants using (tenant_id) where run_id = :run_id`,
).columns<{ suspended_at: Date | null }>();

const FIND_OPEN = statement(
  "explain.find_open",
  `select lane, epoch, requeue_count, dispatched_at, claim_expires_at, ${deadlineSql({ run: "open_runs" })} as deadline_at,
     cancel_requested_at, activity
   from open_runs where run_id = :run_id`,
).columns<{ deadline_at: Date }>();

const LIST_REQUESTS = statement(
  "explain.list_requests",
  `select request_index, activity, provider, submitted_at, next_poll_at, provider_unreachable_since, slot_wanted_since,
     claim_expires_at
   from open_requests where run_id = :run_id order by request_index`,
).columns<{ activity: "working" | "waiting_for_slot" | "at_provider" | null }>();

const LIST_ATTEMPTS = statement(
  "explain.list_attempts",
  `select request_index, attempt_number, provider, upstream, state, price, ticket, fault, created_at,
     lease_until, unknown_since, submitted_at, finished_at, settled_charge, send_count - 1 as take_overs,
     -- A worker that died has reported no send, although a ticket shows one.
     greatest(bit_count(sent_claims::bit(32)), (ticket is not null or state = 'succeeded')::int)::int as sends
   from attempts where run_id = :run_id order by created_at, request_index, attempt_number`,
).columns<{ take_overs: number; sends: number }>();

const LIST_FILES = statement(
  "explain.list_files",
  `select asset_id, role, media_type, size_bytes, created_at, deleted_at from assets where run_id = :run_id
   order by created_at, asset_id`,
);

const LIST_EVENTS = statement(
  "explain.list_events",
  "select type, created_at from events where run_id = :run_id order by xact, seq limit 200",
);

const LIST_DELIVERIES = statement(
  "explain.list_deliveries",
  `select webhook_deliveries.delivery_id, type, url, webhook_deliveries.status, attempts, next_attempt_at, created_at,
     finished_at, last.status as last_status, last.error as last_error, coalesce(last.started_at, null) as last_at
   from webhook_deliveries left join lateral (
     select status, error, started_at from webhook_attempts
     where webhook_attempts.delivery_id = webhook_deliveries.delivery_id order by attempt desc limit 1) as last on true
   where run_id = :run_id order by webhook_deliveries.delivery_id limit 100`,
);

const LIST_OPERATOR_ENTRIES = statement(
  "explain.list_operator_entries",
  `select at, user_id, action from audit_log
   where tenant_id = :tenant_id and at >= :since and subject = :run_id::uuid::text and action like 'admin.%'
     and action <> 'admin.explain'
   order by entry limit 50`,
);

const LIST_BUDGETS = statement(
  "explain.list_budgets",
  `select holder_id = '${TENANT_BUDGET_HOLDER}' as is_tenant, is_prepaid, available, hour_limit, day_limit, month_limit,
     case when hour = hour_of(now()) then hour_used else 0 end as hour_used,
     case when day = day_of(now()) then day_used else 0 end as day_used,
     case when month = month_of(now()) then month_used else 0 end as month_used
   from budgets
   where tenant_id = :tenant_id and has_limit(budgets) and (holder_id = '${TENANT_BUDGET_HOLDER}' or holder_id in (
     select unnest(key_holders(key_id, holder_ids)) from api_keys
     where tenant_id = :tenant_id and key_id = :key_id?::uuid))
   order by holder_id`,
).columns<{ is_tenant: boolean; hour_used: number; day_used: number; month_used: number }>();

/** Undefined if there is no such run. On a snapshot, so that the parts of a run in progress agree with each other. */
export async function readRunFacts(db: Snapshot, runId: string) {
  const [run] = await db.execute(FIND_RUN, { run_id: runId });
  if (!run) return undefined;
  const { tenant_id, key_id } = run;
  // One after the other: a snapshot has one connection.
  const [open] = await db.execute(FIND_OPEN, { run_id: runId });
  const requests = await db.execute(LIST_REQUESTS, { run_id: runId });
  const attempts = await db.execute(LIST_ATTEMPTS, { run_id: runId });
  const files = await db.execute(LIST_FILES, { run_id: runId });
  const events = await db.execute(LIST_EVENTS, { run_id: runId });
  const deliveries = await db.execute(LIST_DELIVERIES, { run_id: runId });
  const operatorEntries = await db.execute(LIST_OPERATOR_ENTRIES, { tenant_id, run_id: runId, since: run.created_at });
  const budgets = await db.execute(LIST_BUDGETS, { tenant_id, key_id: key_id ?? undefined });
  const ledger = await readRunLedger(db, run);
  const rank = await findQueueRank(db, tenant_id, runId);
  return { run, open, requests, attempts, files, events, deliveries, operatorEntries, budgets, ledger, rank };
}

export type RunFacts = NonNullable<Awaited<ReturnType<typeof readRunFacts>>>;

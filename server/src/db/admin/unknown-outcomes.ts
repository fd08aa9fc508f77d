// Attempts whose outcome is unknown: a provider may have accepted and charged a job whose result no caller got. An
// operator who has looked at the provider's own list settles them, and the ledger is corrected by the difference.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { AttemptRef } from "../attempts/attempts.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** The outcome was given up, or still is unknown. Other attempts were resolved after a while. */
export const IS_UNKNOWN = `unknown_since is not null
     and (state = 'unknown' or (state = 'failed' and fault ->> 'code' = 'provider_outcome_unknown'))`;

const LIST = statement(
  "unknown_outcomes.list",
  `select attempts.run_id, request_index, attempt_number, attempts.provider, upstream, idempotency_key, price,
     unknown_since, runs.tenant_id, runs.operation, runs.status
   from attempts join runs using (run_id)
   where ${IS_UNKNOWN} and settled_at is null and (:before?::uuid is null or attempts.run_id < :before?::uuid)
   order by attempts.run_id desc, request_index, attempt_number limit :limit`,
).columns<{ unknown_since: Date }>();

/** Newest runs first, without those that are settled. */
export async function listUnknownOutcomes(
  db: Database,
  { before, limit }: { before?: string | undefined; limit: number },
) {
  return db.execute(LIST, { before, limit });
}

/**
 * The end of a run records the expected price of such an attempt as waste. The statement changes nothing if the attempt
 * was settled before, so a repeated request corrects nothing twice.
 */
const SETTLE = statement(
  "unknown_outcomes.settle",
  `with settled as (
     update attempts set settled_at = now(), settled_charge = :charge::bigint
     from runs
     where attempts.run_id = :run_id and request_index = :request_index and attempt_number = :attempt_number
       and ${IS_UNKNOWN} and settled_at is null and runs.run_id = attempts.run_id and runs.finished_at is not null
     returning runs.tenant_id, coalesce(attempts.price, 0) as recorded
   ), correction as (
     insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     select :transfer_id, 'correction', tenant_id, case when :charge::bigint > recorded then 'outside' else 'waste' end,
       case when :charge::bigint > recorded then 'waste' else 'outside' end, abs(:charge::bigint - recorded)
     from settled where :charge::bigint <> recorded
   ), entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'admin.settle', :run_id::uuid::text,
       jsonb_build_object('by_tenant', :actor_tenant_id::uuid, 'job', :request_index::int, 'try', :attempt_number::int,
         'charged', trim_scale(:charge::bigint / 1000000.0))
     from settled
   )
   select recorded from settled`,
).columns<{ recorded: number }>();

/** Amounts in micro-dollars. Returns the waste that was recorded before, or undefined if there is nothing to settle. */
export async function settleUnknownOutcome(
  db: Database,
  actor: Actor,
  { charge, transfer_id, ...attempt }: AttemptRef & { charge: number; transfer_id: string },
): Promise<number | undefined> {
  const { run_id, request_index, attempt_number } = attempt;
  const [row] = await db.execute(SETTLE, {
    ...{ run_id, request_index, attempt_number, charge, transfer_id },
    ...actorParameters(actor),
    actor_tenant_id: actor.tenant_id,
  });
  return row?.recorded;
}

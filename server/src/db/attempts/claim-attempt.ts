// Claims the right to submit an attempt. The row of the attempt and its lease are inserted before the request, in one
// statement that is fenced by the epoch. The first claim of a run can start it in the same statement. Claims that are
// made at the same time share a statement.

import type { Job } from "../../contract/operation.ts";
import { isSuspendedSql } from "../access/suspension.ts";
import type { Database } from "../connect.ts";
import { gather } from "../gather.ts";
import { CLAIM_SECONDS, type RunClaim, SET_STARTED } from "../run-claims.ts";
import { statement } from "../statement.ts";
import type { AttemptRef } from "./attempts.ts";

export type AttemptClaim = RunClaim &
  AttemptRef & {
    idempotency_key: string;
    provider: string;
    model: string;
    upstream: string;
    /** Expected charge of the provider in micro-dollars; null if unknown. */
    price: number | null;
    wakeupId: string;
    leaseSeconds: number;
    /** Identifies the holder of the lease. A repeated claim with the same token succeeds again. */
    leaseToken?: string | undefined;
    /** The spool directory that gets the response. */
    spoolId?: string | undefined;
    /** The request runs in this installation and counts as its own work while it runs. */
    runsLocally: boolean;
    /** Starts the run too, as start-run.ts does, with an event of this id and only if this is its plan. */
    start?: { eventId: string; plan: Job[] } | undefined;
  };

const CLAIM = statement(
  "attempts.claim",
  `with asked as (
     select run_id, tenant_id, epoch, request_index, attempt_number, idempotency_key, provider, model, upstream,
       wakeup_id, lease_seconds, runs_locally, price, lease_token, spool_id, start_event_id, plan
     from jsonb_to_recordset(:claims::jsonb) as asked (run_id uuid, tenant_id uuid, epoch int, request_index smallint,
       attempt_number smallint, idempotency_key text, provider text, model text, upstream text, wakeup_id text,
       lease_seconds float, runs_locally boolean, price bigint, lease_token uuid, spool_id uuid, start_event_id uuid,
       plan jsonb)
   ), planned as materialized (
     select run_id, plan from runs where run_id = any(:run_ids::uuid[])
   ), claim as (
     update open_runs set activity = 'in_requests',
       started_at = case when start_event_id is null then started_at else coalesce(started_at, now()) end,
       claim_expires_at = case when start_event_id is null then claim_expires_at
         else now() + make_interval(secs => :claim_seconds) end,
       requeue_count = case when start_event_id is null then requeue_count else 0 end
     from asked
     where open_runs.run_id = any(:run_ids::uuid[]) and open_runs.run_id = asked.run_id
       and open_runs.epoch = asked.epoch and open_runs.tenant_id = asked.tenant_id
       and (start_event_id is null
         or exists (select from planned where planned.run_id = asked.run_id and planned.plan = asked.plan))
     returning open_runs.run_id, open_runs.tenant_id, lane, cancel_requested_at is not null as canceled, start_event_id
   ), started as (
     update runs set ${SET_STARTED}
     from claim
     where runs.run_id = any(:run_ids::uuid[]) and runs.run_id = claim.run_id and start_event_id is not null
       and status = 'queued'
     returning runs.run_id, runs.tenant_id, last_event_xact, start_event_id
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, xact)
     select run_id, start_event_id, tenant_id, 'run.processing', last_event_xact from started
   ), permitted as (
     select asked.run_id, claim.tenant_id, lane, epoch, request_index, attempt_number, idempotency_key, provider, model,
       upstream, wakeup_id, lease_seconds, runs_locally, price, lease_token, spool_id
     from asked join claim using (run_id)
     where not canceled and (not ${isSuspendedSql("claim.tenant_id")} or exists (
       select from attempts where attempts.run_id = asked.run_id and attempts.request_index = asked.request_index
         and attempts.attempt_number = asked.attempt_number))
   ), opened as (
     insert into open_requests (run_id, request_index, tenant_id, lane, provider, attempt_number, wakeup_id, activity,
                                claim_expires_at)
     select run_id, request_index, tenant_id, lane, provider, attempt_number, wakeup_id,
       case when runs_locally then 'working' else 'at_provider' end, now() + make_interval(secs => lease_seconds + 60)
     from permitted
     on conflict (run_id, request_index) do update set provider = excluded.provider,
       attempt_number = excluded.attempt_number, wakeup_id = excluded.wakeup_id, activity = excluded.activity,
       claim_expires_at = excluded.claim_expires_at, ticket = null, next_poll_at = null,
       provider_unreachable_since = null,
       provider_slot = case when open_requests.provider_slot = excluded.provider then excluded.provider end
   ), selected as (
     insert into planned_requests (run_id, request_index, provider, model, upstream)
     select run_id, request_index, provider, model, upstream from permitted
     on conflict (run_id, request_index) do update set provider = excluded.provider, upstream = excluded.upstream
       where planned_requests.output is null
         and (planned_requests.provider, planned_requests.upstream) <> (excluded.provider, excluded.upstream)
   ), claimed as (
     insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, upstream, state,
                           lease_until, price, lease_token, spool_id)
     select run_id, request_index, attempt_number, idempotency_key, epoch, provider, upstream, 'intent',
       now() + make_interval(secs => lease_seconds), price, lease_token, spool_id
     from permitted
     on conflict (run_id, request_index, attempt_number) do update set lease_until = excluded.lease_until
       where attempts.lease_token = excluded.lease_token and attempts.state = 'intent'
     returning run_id
   )
   select claim.run_id, canceled, permitted.run_id is not null as is_permitted, claimed.run_id is not null as is_claimed
   from claim left join permitted using (run_id) left join claimed using (run_id)`,
).columns<{ canceled: boolean; is_permitted: boolean; is_claimed: boolean }>();

type ClaimedState = "claimed" | "claimed_by_other" | "claim_lost" | "canceled" | "suspended";

const claimGathered = gather<AttemptClaim, ClaimedState>({
  keyOf: ({ run_id }) => run_id,
  async execute(db, claims) {
    const rows = await db.execute(CLAIM, {
      run_ids: claims.map(({ run_id }) => run_id),
      claim_seconds: CLAIM_SECONDS,
      claims: JSON.stringify(claims.map(toRecord)),
    });
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return claims.map(({ run_id }): ClaimedState => {
      const row = byRun.get(run_id);
      if (!row) return "claim_lost";
      if (row.canceled) return "canceled";
      if (!row.is_permitted) return "suspended";
      return row.is_claimed ? "claimed" : "claimed_by_other";
    });
  },
});

const toRecord = ({ wakeupId, leaseSeconds, leaseToken, spoolId, runsLocally, start, ...rest }: AttemptClaim) => ({
  ...rest,
  wakeup_id: wakeupId,
  lease_seconds: leaseSeconds,
  lease_token: leaseToken,
  spool_id: spoolId,
  runs_locally: runsLocally,
  start_event_id: start?.eventId,
  plan: start?.plan,
});

/**
 * Claims the right to submit this attempt. `claimed_by_other`: the attempt exists, and its writer may have submitted
 * it. `claim_lost`: the run has ended or belongs to a later epoch. `suspended`: the tenant is suspended, and the
 * attempt does not exist.
 */
export const claimAttempt = (db: Database, claim: AttemptClaim): Promise<ClaimedState> => claimGathered(db, claim);

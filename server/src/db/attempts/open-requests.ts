// Provider requests in progress: wakeup, polling, release. The requests of one run are in progress side by side, so
// each has a row of its own. Writes of an engine invocation are fenced by the epoch of the run.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { CLAIM_SECONDS, remainingSql } from "../run-claims.ts";
import { statement } from "../statement.ts";

/** The run and the fencing epoch of an engine invocation. */
type RunFence = { run_id: string; epoch: number };
/** One provider request of a run. */
export type RequestRef = { run_id: string; request_index: number };

const requestParameters = ({ run_id, request_index }: RequestRef) => ({ run_id, request_index });
const IS_REQUEST = "run_id = :run_id and request_index = :request_index";

/** `activity` is what the request waits for: a slot of its provider, or the provider. */
export type WakeupRegistration = { wakeupId: string; seconds: number; activity: "waiting_for_slot" | "at_provider" };

const SAVE_WAKEUP = statement(
  "open_requests.save_wakeup",
  `with claim as (
     update open_runs set activity = 'in_requests' where run_id = :run_id and epoch = :epoch
     returning run_id, tenant_id, lane, cancel_requested_at is not null as canceled,
       ${remainingSql({ run: "open_runs" })} as remaining
   ), registered as (
     insert into open_requests (run_id, request_index, tenant_id, lane, wakeup_id, claim_expires_at, activity)
     select run_id, :request_index, tenant_id, lane, :wakeup_id, now() + make_interval(secs => :seconds), :activity
     from claim
     on conflict (run_id, request_index) do update set wakeup_id = excluded.wakeup_id,
       claim_expires_at = excluded.claim_expires_at, activity = excluded.activity
   )
   select canceled, remaining from claim`,
).columns<{ canceled: boolean; remaining: number }>();

/** Saves where the request can be woken, and extends its claim by the expected wait. Undefined if the claim is lost. */
export async function saveWakeup(
  db: Database,
  { run_id, epoch }: RunFence,
  requestIndex: number,
  { wakeupId, seconds, activity }: WakeupRegistration,
) {
  const [row] = await db.execute(SAVE_WAKEUP, {
    run_id,
    epoch,
    request_index: requestIndex,
    wakeup_id: wakeupId,
    seconds: seconds + CLAIM_SECONDS,
    activity,
  });
  return row;
}

const LIST_WAKEUPS = statement(
  "open_requests.list_wakeups",
  "select wakeup_id from open_requests where run_id = :run_id and wakeup_id is not null",
);

/** Where the requests of a run can be woken. */
export async function listWakeups(db: Database, runId: string): Promise<string[]> {
  const rows = await db.execute(LIST_WAKEUPS, { run_id: runId });
  return rows.flatMap(({ wakeup_id }) => wakeup_id ?? []);
}

const RELEASE = statement(
  "open_requests.release",
  `with claim as (
     update open_runs set claim_expires_at = now() + make_interval(secs => :seconds)
     where run_id = :run_id and epoch = :epoch returning run_id
   )
   delete from open_requests where ${IS_REQUEST} and exists (select from claim)`,
);

/** Frees the provider slot of a request that has failed while other requests of its run continue. */
export async function releaseRequest(db: Database, { run_id, epoch }: RunFence, requestIndex: number): Promise<void> {
  await db.execute(RELEASE, { run_id, epoch, request_index: requestIndex, seconds: CLAIM_SECONDS });
}

const FIND_BY_TICKET = statement(
  "open_requests.find_by_ticket",
  "select run_id, request_index, wakeup_id from open_requests where provider = :provider and ticket ->> :name = :value",
);

/** The request whose ticket has this value under this name. */
export async function findRequestByTicket(db: Database, provider: string, name: string, value: string) {
  const [row] = await db.execute(FIND_BY_TICKET, { provider, name, value });
  return row;
}

const EXPECT_RESUMPTION = statement(
  "open_requests.expect_resumption",
  `update open_requests set claim_expires_at = least(claim_expires_at, now() + interval '60 seconds'),
     next_poll_at = null, activity = 'working'
   where ${IS_REQUEST}`,
);

/** Shortens the claim of a request whose wakeup was resolved: an engine that does not resume it soon has lost it. */
export async function expectResumption(db: Database, request: RequestRef): Promise<void> {
  await db.execute(EXPECT_RESUMPTION, requestParameters(request));
}

export type PollableJob = RequestRef & {
  attempt_number: number;
  provider: string;
  wakeup_id: string;
  ticket: JsonObject;
  /** Seconds for which the provider has not been reachable for this job; 0 if it was reachable last. */
  unreachable_seconds: number;
  /** Seconds since the provider accepted the job. */
  submitted_seconds: number;
};

const CLAIM_TO_POLL = statement(
  "open_requests.claim_to_poll",
  `with due as materialized (
     select run_id, request_index from open_requests where provider = :provider and next_poll_at <= now()
     order by next_poll_at limit :limit for update skip locked
   )
   update open_requests set next_poll_at = now() + make_interval(
     secs => greatest(:every_seconds, least(15, extract(epoch from now() - submitted_at) / 4)))
   from due where open_requests.run_id = due.run_id and open_requests.request_index = due.request_index
   returning open_requests.run_id, open_requests.request_index, attempt_number, provider, wakeup_id, ticket,
     coalesce(extract(epoch from now() - provider_unreachable_since), 0)::float as unreachable_seconds,
     coalesce(extract(epoch from now() - submitted_at), 0)::float as submitted_seconds`,
).columns<PollableJob>();

/** Claims jobs that are due to be polled, each for one poller. The older a job, the longer the interval. */
export async function claimJobsToPoll(
  db: Database,
  provider: string,
  { limit, everySeconds }: { limit: number; everySeconds: number },
): Promise<PollableJob[]> {
  return db.execute(CLAIM_TO_POLL, { provider, limit, every_seconds: everySeconds });
}

const SET_UNREACHABLE = statement(
  "open_requests.set_unreachable",
  `update open_requests
   set provider_unreachable_since = case when :is_unreachable then coalesce(provider_unreachable_since, now()) end
   where ${IS_REQUEST}`,
);

/** Records since when the provider has been unreachable; its first response clears it. */
export async function setProviderUnreachable(db: Database, request: RequestRef, isUnreachable: boolean): Promise<void> {
  await db.execute(SET_UNREACHABLE, { ...requestParameters(request), is_unreachable: isUnreachable });
}

const FIND_WAKEUP = statement(
  "open_requests.find_wakeup",
  `select attempts.idempotency_key, attempts.provider, attempts.state, open_requests.wakeup_id
   from attempts left join open_requests
     on open_requests.run_id = attempts.run_id and open_requests.request_index = attempts.request_index
   where attempts.run_id = :run_id and attempts.request_index = :request_index
     and attempts.attempt_number = :attempt_number`,
);

/** The attempt that a callback names, and where to wake the run if it still waits for this request. */
export async function findAttemptWakeup(
  db: Database,
  { run_id, request_index, attempt_number }: RequestRef & { attempt_number: number },
) {
  const [row] = await db.execute(FIND_WAKEUP, { run_id, request_index, attempt_number });
  return row;
}

// Attempts: one row per submission that may cost money. The row and its lease are inserted before the request, the
// ticket is saved right after the response. An attempt without a ticket has an unknown outcome and must be resolved
// before a resubmit.

import type { JsonObject } from "../../contract/schemas/run.ts";
import type { PublicFault } from "../../faults/faults.ts";
import type { ReportedUsage } from "../../prices/price.ts";
import type { Database } from "../connect.ts";
import { type FileToInsert, insertFilesSql } from "../files/insert-files.ts";
import type { RunClaim } from "../run-claims.ts";
import { statement } from "../statement.ts";
import type { AttemptState, StoredAsset } from "../typed-columns.ts";

export type AttemptRef = { run_id: string; request_index: number; attempt_number: number };

/** The parameters of the condition `IS_ATTEMPT`. */
const attemptParameters = ({ run_id, request_index, attempt_number }: AttemptRef) => ({
  run_id,
  request_index,
  attempt_number,
});
const IS_ATTEMPT = "run_id = :run_id and request_index = :request_index and attempt_number = :attempt_number";

export type AttemptRow = AttemptRef & {
  idempotency_key: string;
  provider: string;
  upstream: string | null;
  state: AttemptState;
  /** Number of leases: 1, and one more for each take-over. */
  send_count: number;
  ticket: JsonObject | null;
  fault: PublicFault | null;
  is_final: boolean;
  /** The spool directory that may have the response; null if the request has certainly ended without one. */
  spool_id: string | null;
  /** Seconds until the lease expires; not positive if it has expired. */
  lease_seconds: number;
  /** Seconds since the outcome became unknown. */
  unknown_seconds: number | null;
  /** Seconds for which the provider has not been reachable; only for a claimed run. */
  unreachable_seconds?: number | null;
  /** Seconds since the provider accepted the job; only for a claimed run. */
  submitted_seconds?: number | null;
};

const ATTEMPT_COLUMNS = `run_id, request_index, attempt_number, idempotency_key, provider, upstream, state, send_count,
  ticket, fault, is_final, spool_id, coalesce(extract(epoch from lease_until - now()), 0)::float as lease_seconds,
  extract(epoch from now() - unknown_since)::float as unknown_seconds`;

const FIND_LATEST = statement(
  "attempts.find_latest",
  `select ${ATTEMPT_COLUMNS} from attempts where run_id = :run_id and request_index = :request_index
   order by attempt_number desc limit 1`,
).columns<{ lease_seconds: number }>();

export async function findLatestAttempt(
  db: Database,
  runId: string,
  requestIndex: number,
): Promise<AttemptRow | undefined> {
  const [row] = await db.execute(FIND_LATEST, { run_id: runId, request_index: requestIndex });
  return row;
}

const FIND_CLAIMED = statement(
  "attempts.find_claimed",
  `with renewed as (
     update open_requests set claim_expires_at = now() + interval '120 seconds'
     where run_id = :run_id and request_index = :request_index and claim_expires_at < now() + interval '60 seconds'
       and exists (select from open_runs where run_id = :run_id and epoch = :epoch)
   )
   select ${ATTEMPT_COLUMNS},
     (select extract(epoch from now() - provider_unreachable_since)::float from open_requests
      where run_id = :run_id and request_index = :request_index) as unreachable_seconds,
     extract(epoch from now() - submitted_at)::float as submitted_seconds
   from attempts
   where run_id = :run_id and request_index = :request_index
     and exists (select from open_runs where run_id = :run_id and epoch = :epoch)
   order by attempt_number desc limit 1`,
).columns<{ lease_seconds: number }>();

/** The latest attempt of a request; also renews the claim of the request. Undefined if the claim is lost. */
export async function findClaimedAttempt(
  db: Database,
  { run_id, epoch }: RunClaim,
  requestIndex: number,
): Promise<AttemptRow | undefined> {
  const [row] = await db.execute(FIND_CLAIMED, { run_id, epoch, request_index: requestIndex });
  return row;
}

const TAKE_OVER = statement(
  "attempts.take_over",
  `update attempts set lease_until = now() + make_interval(secs => :seconds), send_count = send_count + 1,
     epoch = :epoch, lease_token = :lease_token?, spool_id = :spool_id?
   where ${IS_ATTEMPT} and ticket is null and state in ('intent', 'unknown')
     and lease_until < now() and exists (select from open_runs where run_id = :run_id and epoch = :epoch)
   returning run_id`,
);

/** Takes over an attempt whose lease has expired. Only one worker can, because it renews the lease. */
export async function takeOverAttempt(
  db: Database,
  id: AttemptRef,
  claim: RunClaim,
  { seconds, leaseToken, spoolId }: AttemptLease,
): Promise<boolean> {
  const parameters = { ...attemptParameters(id), epoch: claim.epoch, seconds };
  const rows = await db.execute(TAKE_OVER, { ...parameters, lease_token: leaseToken, spool_id: spoolId });
  return rows.length > 0;
}

export type AttemptLease = { seconds: number; leaseToken?: string | undefined; spoolId?: string | undefined };

/** Only an attempt without an end has a lease, and a spool that may have its response. */
export const END_LEASE = "lease_until = null, lease_token = null, spool_id = null";

/** The bit of the current lease in `sent_claims`, which has a bit for each lease whose holder has sent the request. */
const LEASE_BIT = "1 << least(attempts.send_count - 1, 30)";

/**
 * Sets `sent_claims`. `request`: the recorded request, null unless bytes of it were written. `isProven`: the provider
 * has the job, so that it was sent at least once, also if the worker that sent it reported nothing.
 */
export const recordSentSql = (request: string, { isProven = false } = {}) =>
  `sent_claims = attempts.sent_claims | case when ${request}::jsonb is not null${
    isProven ? " or attempts.sent_claims = 0" : ""
  } then ${LEASE_BIT} else 0 end`;

/** True if no token is given, or if this process still holds the lease. */
const IS_LEASE_HOLDER = "(:lease_token?::uuid is null or lease_token = :lease_token?)";

/** `isFinal`: the run ends with this attempt; a replay of the step submits nothing after it. */
export type AttemptFailure = { fault: PublicFault; isFinal: boolean; request?: JsonObject | undefined };
/** The token of the lease under which a request was sent. */
export type LeaseHolder = { leaseToken?: string | undefined };

const FAIL = statement(
  "attempts.fail",
  `update attempts set state = 'failed', fault = :fault, lease_until = null, finished_at = now(), is_final = :is_final,
     request = coalesce(:request?, request), ${recordSentSql(":request?")}
   where ${IS_ATTEMPT} and state in ('intent', 'unknown', 'submitted') and ${IS_LEASE_HOLDER}
   returning run_id`,
);

/**
 * Records that the provider did not accept the request or failed it. False, and nothing is changed, if the attempt has
 * ended or the lease of the caller was taken over.
 */
export async function failAttempt(
  db: Database,
  id: AttemptRef & LeaseHolder,
  { fault, isFinal, request }: AttemptFailure,
): Promise<boolean> {
  const parameters = { ...attemptParameters(id), lease_token: id.leaseToken };
  const rows = await db.execute(FAIL, { ...parameters, fault, is_final: isFinal, request });
  return rows.length > 0;
}

const GIVE_UP_UNSENT = statement(
  "attempts.give_up_unsent",
  `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, upstream, state, fault,
                         is_final, finished_at)
   select run_id, :request_index, :attempt_number, :idempotency_key, epoch, :provider, :upstream, 'failed', :fault, true,
     now()
   from open_runs where run_id = :run_id and epoch = :epoch
   on conflict (run_id, request_index, attempt_number) do update set is_final = attempts.is_final
     where attempts.is_final and attempts.fault ->> 'code' = excluded.fault ->> 'code'
   returning run_id`,
);

/** An attempt that would be made next, and the offer that it would go to. */
export type UnsentAttempt = AttemptRef & { idempotency_key: string; provider: string; upstream: string };

/**
 * Ends an attempt before it is begun, so that no other process can begin it, such as one that executes the same step
 * and was suspended. False if it was begun, or if the claim is lost. Idempotent.
 */
export async function giveUpUnsentAttempt(
  db: Database,
  { epoch }: RunClaim,
  { idempotency_key, provider, upstream, ...id }: UnsentAttempt,
  fault: PublicFault,
): Promise<boolean> {
  const parameters = { ...attemptParameters(id), epoch, idempotency_key, provider, upstream, fault };
  return (await db.execute(GIVE_UP_UNSENT, parameters)).length > 0;
}

const RENEW_LEASE = statement(
  "attempts.renew_lease",
  `with claim as (
     update open_requests set claim_expires_at = now() + make_interval(secs => :seconds + 60)
     where run_id = :run_id and request_index = :request_index
       and exists (select from open_runs where run_id = :run_id and epoch = :epoch)
   )
   update attempts set lease_until = now() + make_interval(secs => :seconds)
   where ${IS_ATTEMPT} and state in ('intent', 'unknown') and ${IS_LEASE_HOLDER}
     and exists (select from open_runs where run_id = :run_id)
   returning run_id`,
);

/**
 * Renews the lease while the request is in flight or its response is being stored, and the claim of its request. False
 * if the lease is lost. The lease is not fenced by the epoch: a run that was requeued meanwhile waits for the response,
 * because it is paid for.
 */
export async function renewAttemptLease(
  db: Database,
  claim: RunClaim,
  id: AttemptRef & LeaseHolder,
  seconds: number,
): Promise<boolean> {
  const parameters = { ...attemptParameters(id), lease_token: id.leaseToken, epoch: claim.epoch, seconds };
  return (await db.execute(RENEW_LEASE, parameters)).length > 0;
}

const EXPIRE_LEASE = statement(
  "attempts.expire_lease",
  `update attempts set lease_until = now(), request = coalesce(:request?, request), spool_id = null,
     ${recordSentSql(":request?")}
   where ${IS_ATTEMPT} and state in ('intent', 'unknown') and ${IS_LEASE_HOLDER}`,
);

/**
 * The request is over and its response was lost. Expires the lease now, so that the outcome can be resolved at once.
 */
export async function expireAttemptLease(
  db: Database,
  id: AttemptRef & LeaseHolder,
  request?: JsonObject,
): Promise<void> {
  await db.execute(EXPIRE_LEASE, { ...attemptParameters(id), lease_token: id.leaseToken, request });
}

const RELEASE_LEASE = statement(
  "attempts.release_lease",
  `update attempts set lease_until = now()
   where ${IS_ATTEMPT} and state in ('intent', 'unknown') and ${IS_LEASE_HOLDER}`,
);

/** Ends the lease of a response that is in the spool, so that the next invocation can take it from there at once. */
export async function releaseAttemptLease(db: Database, id: AttemptRef & LeaseHolder): Promise<void> {
  await db.execute(RELEASE_LEASE, { ...attemptParameters(id), lease_token: id.leaseToken });
}

const MARK_UNKNOWN = statement(
  "attempts.mark_unknown",
  `update attempts set state = 'unknown', unknown_since = coalesce(unknown_since, now())
   where ${IS_ATTEMPT} and ticket is null and state in ('intent', 'unknown')`,
);

/**
 * The response was lost and the provider cannot be asked. The grace period for a callback starts with the first call.
 */
export async function markOutcomeUnknown(db: Database, id: AttemptRef): Promise<void> {
  await db.execute(MARK_UNKNOWN, attemptParameters(id));
}

/** As it is stored. */
type SavedOutput = { files: StoredAsset[]; data?: JsonObject; usage?: ReportedUsage };

export type RequestOutput = {
  files: FileToInsert[];
  /** Files that the output does not list. */
  thumbnailFiles?: FileToInsert[];
  data?: JsonObject | undefined;
  /** What the provider says that the job used. The cost of the run is computed from it. */
  usage?: ReportedUsage | undefined;
  request?: JsonObject | undefined;
};

const SAVE_OUTPUT = statement(
  "attempts.save_output",
  `with claim as (
     update open_runs set claim_expires_at = now() + interval '120 seconds',
       activity = case when exists (
         select from open_requests where run_id = :run_id and request_index <> :request_index) then activity
         else 'working' end
     where run_id = :run_id and epoch = :epoch returning run_id, tenant_id
   ), closed as (
     delete from open_requests where run_id = :run_id and request_index = :request_index and exists (select from claim)
   ), inserted as (
     ${insertFilesSql("claim")}
     on conflict do nothing
   ), succeeded as (
     update attempts set state = 'succeeded', finished_at = now(), ${END_LEASE},
       request = coalesce(:request?, request), ${recordSentSql(":request?", { isProven: true })}
     where ${IS_ATTEMPT} and state in ('intent', 'unknown', 'submitted') and exists (select from claim)
   )
   update planned_requests set output = coalesce(output, :output), finished_at = now()
   where run_id = :run_id and request_index = :request_index and exists (select from claim) returning output`,
);

/**
 * Saves the files and data of a request, ends its attempt and frees its provider slot. Returns what is stored: the
 * first save wins, because a repeated step can have signed the same files again. Undefined if the claim is lost.
 */
export async function saveRequestOutput(
  db: Database,
  claim: RunClaim,
  id: AttemptRef,
  { files, thumbnailFiles = [], data, usage, request }: RequestOutput,
): Promise<SavedOutput | undefined> {
  const output = {
    files: files.map(({ storage_key: _, ...file }) => file),
    ...(data && { data }),
    ...(usage && { usage }),
  };
  const [row] = await db.execute(SAVE_OUTPUT, {
    ...attemptParameters(id),
    run_id: claim.run_id,
    epoch: claim.epoch,
    files: JSON.stringify([...files, ...thumbnailFiles]),
    output,
    request,
  });
  return row?.output as SavedOutput | undefined;
}

const FIND_OUTPUT = statement(
  "attempts.find_output",
  `select output from planned_requests where run_id = :run_id and request_index = :request_index and output is not null
     and exists (select from open_runs where run_id = :run_id and epoch = :epoch)`,
);

/** The stored output of a request. Undefined if there is none, or if the claim is lost. */
export async function findRequestOutput(
  db: Database,
  { run_id, epoch }: RunClaim,
  requestIndex: number,
): Promise<SavedOutput | undefined> {
  const [row] = await db.execute(FIND_OUTPUT, { run_id, epoch, request_index: requestIndex });
  return row?.output as SavedOutput | undefined;
}

const LIST_OFFERS = statement(
  "attempts.list_offers",
  "select distinct provider, upstream from attempts where run_id = :run_id and request_index = :request_index",
);

/** The offers that this request was submitted to, or was about to be. */
export async function listAttemptedOffers(
  db: Database,
  { run_id, request_index }: Pick<AttemptRef, "run_id" | "request_index">,
) {
  return db.execute(LIST_OFFERS, { run_id, request_index });
}

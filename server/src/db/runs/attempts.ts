// Attempts: one row per submission that may cost money. The row and its lease are inserted before the request, the ticket is
// saved right after the response. An attempt without a ticket has an unknown outcome and must be resolved before a resubmit.
import type { PublicFault } from "../../faults.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import type { RunClaim } from "./open-runs.ts";
import type { StoredAsset } from "./runs.ts";

export type AttemptRef = { run_id: string; job: number; try: number };
export type AttemptClaim = RunClaim &
  AttemptRef & {
    key: string;
    provider: string;
    model: string;
    upstream: string;
    /** What the provider is expected to take for it, in micro-dollars; null where that is not known. */
    price: number | null;
    wakeId: string;
    leaseSeconds: number;
    /** Nobody else does it: while it is being done, we work. */
    runsLocally: boolean;
  };

/**
 * Takes the right to send this try. `taken`: the try is there already, written by somebody who may have sent it.
 * `lost`: the run has ended or belongs to a later epoch.
 */
export async function claimAttempt(
  db: Database,
  claim: AttemptClaim,
): Promise<"claimed" | "claimed_by_other" | "claim_lost" | "canceled"> {
  const [row] = await db.query<{ held: boolean; canceled: boolean; claimed: boolean }>(
    "attempts.claim",
    `with held as (
       update open_runs set provider = $6, job = $3, try = $4, wake_id = $9, ticket = null, next_poll_at = null,
         silent_since = null, occupies = case when occupies = $6 then occupies end,
         doing = case when $11 then 'work' else 'vendor' end,
         alive_until = now() + make_interval(secs => $10 + 60)
       where run_id = $1 and epoch = $2 returning run_id, cancel_requested_at is not null as canceled
     ), chosen as (
       insert into jobs (run_id, job, provider, model, upstream)
       select run_id, $3, $6, $7, $8 from held where not canceled
       on conflict (run_id, job) do update set provider = excluded.provider, upstream = excluded.upstream
         where jobs.made is null and (jobs.provider, jobs.upstream) <> (excluded.provider, excluded.upstream)
     ), claimed as (
       insert into attempts (run_id, job, try, key, epoch, provider, upstream, state, lease_until, price)
       select run_id, $3, $4, $5, $2, $6, $8, 'intent', now() + make_interval(secs => $10), $12 from held where not canceled
       on conflict do nothing returning run_id
     )
     select exists (select from held) as held, exists (select from held where canceled) as canceled,
       exists (select from claimed) as claimed`,
    [
      ...[claim.run_id, claim.epoch, claim.job, claim.try, claim.key, claim.provider, claim.model, claim.upstream],
      ...[claim.wakeId, claim.leaseSeconds, claim.runsLocally, claim.price],
    ],
  );
  if (!row?.held) return "claim_lost";
  if (row.canceled) return "canceled";
  return row.claimed ? "claimed" : "claimed_by_other";
}

export type AttemptRow = AttemptRef & {
  key: string;
  provider: string;
  upstream: string | null;
  state: "intent" | "submitted" | "succeeded" | "failed" | "unknown" | "abandoned";
  sends: number;
  ticket: JsonObject | null;
  fault: PublicFault | null;
  is_last: boolean;
  /** Seconds until the lease ends; not positive when it has. */
  lease: number;
  /** Seconds since the outcome became unknown. */
  unknown_for: number | null;
  /** Seconds that the provider has not been reachable; only known for a run that is held. */
  silent_for?: number | null;
};

const ATTEMPT_COLUMNS = `run_id, job, try, key, provider, upstream, state, sends, ticket, fault, is_last,
  coalesce(extract(epoch from lease_until - now()), 0)::float as lease,
  extract(epoch from now() - unknown_since)::float as unknown_for`;

export async function findLatestAttempt(db: Database, runId: string, job: number): Promise<AttemptRow | undefined> {
  const [row] = await db.query<AttemptRow>(
    "attempts.latest",
    `select ${ATTEMPT_COLUMNS} from attempts where run_id = $1 and job = $2 order by try desc limit 1`,
    [runId, job],
  );
  return row;
}

/** As `latestAttempt`, for a run that is still held: the step says that it is alive, and learns whether it should stop. */
export async function findClaimedAttempt(db: Database, claim: RunClaim, job: number): Promise<AttemptRow | undefined> {
  const [row] = await db.query<AttemptRow>(
    "attempts.held",
    `with heard as (
       update open_runs set alive_until = now() + interval '120 seconds'
       where run_id = $1 and epoch = $2 and alive_until < now() + interval '60 seconds'
     )
     select ${ATTEMPT_COLUMNS},
       (select extract(epoch from now() - silent_since)::float from open_runs where run_id = $1) as silent_for
     from attempts
     where run_id = $1 and job = $3 and exists (select from open_runs where run_id = $1 and epoch = $2)
     order by try desc limit 1`,
    [claim.run_id, claim.epoch, job],
  );
  return row;
}

/** Takes over an attempt whose lease has run out. Only one can: the lease moves with the take-over. */
export async function takeOverAttempt(
  db: Database,
  id: AttemptRef,
  claim: RunClaim,
  leaseSeconds: number,
): Promise<boolean> {
  const rows = await db.query(
    "attempts.takeOver",
    `update attempts set lease_until = now() + make_interval(secs => $5), sends = sends + 1, epoch = $4
     where run_id = $1 and job = $2 and try = $3 and ticket is null and state in ('intent', 'unknown')
       and lease_until < now() and exists (select from open_runs where run_id = $1 and epoch = $4)
     returning run_id`,
    [id.run_id, id.job, id.try, claim.epoch, leaseSeconds],
  );
  return rows.length > 0;
}

/** The provider has the job: from here on it is only ever asked about. Not fenced, because the ticket must never be lost. */
export async function saveTicket(
  db: Database,
  id: AttemptRef,
  { ticket, request }: { ticket: JsonObject; request?: JsonObject | undefined },
  pollSeconds: number,
): Promise<void> {
  await db.query(
    "attempts.ticket",
    `with kept as (
       update attempts set state = 'submitted', ticket = coalesce(ticket, $4), submitted_at = coalesce(submitted_at, now()),
         request = coalesce($6, request), lease_until = null
       where run_id = $1 and job = $2 and try = $3 and state in ('intent', 'unknown', 'submitted')
       returning ticket, submitted_at
     )
     update open_runs set try = $3, ticket = kept.ticket, submitted_at = kept.submitted_at,
       next_poll_at = now() + make_interval(secs => $5)
     from kept where run_id = $1 and job = $2 and try <= $3`,
    [id.run_id, id.job, id.try, ticket, pollSeconds, request],
  );
}

/** Nothing was taken: the provider said so, or the request never left. */
/** `isLast`: the run ends with it, and nothing is sent after it, whoever does this step again. */
export type AttemptFailure = { fault: PublicFault; isFinal: boolean; request?: JsonObject | undefined };

export async function failAttempt(
  db: Database,
  id: AttemptRef,
  { fault, isFinal: isLast, request }: AttemptFailure,
): Promise<void> {
  await db.query(
    "attempts.fail",
    `update attempts set state = 'failed', fault = $4, lease_until = null, finished_at = now(), is_last = $6,
       request = coalesce($5, request)
     where run_id = $1 and job = $2 and try = $3 and state in ('intent', 'unknown', 'submitted')`,
    [id.run_id, id.job, id.try, fault, request, isLast],
  );
}

/** The request is still under way, and whoever made it is alive. */
export async function renewAttemptLease(db: Database, claim: RunClaim, id: AttemptRef, seconds: number): Promise<void> {
  await db.query(
    "attempts.renew",
    `with alive as (
       update open_runs set alive_until = now() + make_interval(secs => $5 + 60) where run_id = $1 and epoch = $4
       returning run_id
     )
     update attempts set lease_until = now() + make_interval(secs => $5)
     where run_id = $1 and job = $2 and try = $3 and state = 'intent' and exists (select from alive)`,
    [id.run_id, id.job, id.try, claim.epoch, seconds],
  );
}

/** The request is over and its response was lost. Expires the lease now, so that the outcome can be resolved at once. */
export async function expireAttemptLease(db: Database, id: AttemptRef, request?: JsonObject): Promise<void> {
  await db.query(
    "attempts.dropLease",
    `update attempts set lease_until = now(), request = coalesce($4, request)
     where run_id = $1 and job = $2 and try = $3 and state = 'intent'`,
    [id.run_id, id.job, id.try, request],
  );
}

/** The answer was lost and nobody can be asked. The clock of the callback's grace starts once. */
export async function markOutcomeUnknown(db: Database, id: AttemptRef): Promise<void> {
  await db.query(
    "attempts.unknown",
    `update attempts set state = 'unknown', unknown_since = coalesce(unknown_since, now())
     where run_id = $1 and job = $2 and try = $3 and ticket is null and state in ('intent', 'unknown')`,
    [id.run_id, id.job, id.try],
  );
}

type RequestOutput = {
  files: (StoredAsset & { storage_key: string })[];
  data?: JsonObject | undefined;
  request?: JsonObject | undefined;
};

/** The job's files are ours: rows for them, the job's result, and the attempt's end, if the run is still held. */
export async function saveRequestOutput(
  db: Database,
  claim: RunClaim,
  id: AttemptRef,
  { files, data, request }: RequestOutput,
): Promise<boolean> {
  const made = { files: files.map(({ storage_key: _, ...kept }) => kept), ...(data && { data }) };
  const rows = await db.query(
    "attempts.made",
    `with held as (
       update open_runs set alive_until = now() + interval '120 seconds', next_poll_at = null, occupies = null, doing = 'work'
       where run_id = $1 and epoch = $2 returning run_id, tenant_id
     ), kept as (
       insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256)
       select f.asset_id, run_id, tenant_id, f.role, f.storage_key, f.media_type, f.width, f.height, f.size_bytes, f.sha256
       from held, jsonb_to_recordset($5) as f (asset_id uuid, role text, storage_key text, media_type text, width int,
         height int, size_bytes bigint, sha256 text)
       on conflict do nothing
     ), done as (
       update attempts set state = 'succeeded', finished_at = now(), lease_until = null, request = coalesce($7, request)
       where run_id = $1 and job = $3 and try = $4 and state in ('intent', 'submitted') and exists (select from held)
     )
     update jobs set made = $6, finished_at = now()
     where run_id = $1 and job = $3 and exists (select from held) returning run_id`,
    [claim.run_id, claim.epoch, id.job, id.try, JSON.stringify(files), JSON.stringify(made), request],
  );
  return rows.length > 0;
}

export type AttemptHistoryRow = Pick<AttemptRow, "job" | "try" | "provider" | "upstream" | "state" | "fault"> & {
  request: JsonObject | null;
  created_at: Date;
  finished_at: Date | null;
};

export async function listAttempts(db: Database, runId: string): Promise<AttemptHistoryRow[]> {
  return db.query<AttemptHistoryRow>(
    "attempts.list",
    `select job, try, provider, upstream, state, fault, request, created_at, finished_at
     from attempts where run_id = $1 order by created_at, job, try`,
    [runId],
  );
}

/** Whom this job has been sent to, or tried to. */
export async function listAttemptedOffers(db: Database, { run_id, job }: Pick<AttemptRef, "run_id" | "job">) {
  return db.query<{ provider: string; upstream: string | null }>(
    "attempts.tried",
    "select distinct provider, upstream from attempts where run_id = $1 and job = $2",
    [run_id, job],
  );
}

/** A callback names its attempt. Answers where to wake the run, if it still waits for this attempt. */
export async function findAttemptWakeup(db: Database, id: AttemptRef) {
  const [row] = await db.query<{ key: string; provider: string; wake_id: string | null; state: string }>(
    "attempts.waiting",
    `select attempts.key, attempts.provider, attempts.state, open_runs.wake_id
     from attempts left join open_runs on open_runs.run_id = attempts.run_id and open_runs.job = attempts.job
     where attempts.run_id = $1 and attempts.job = $2 and attempts.try = $3`,
    [id.run_id, id.job, id.try],
  );
  return row;
}

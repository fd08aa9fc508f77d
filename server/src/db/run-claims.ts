// Who executes an open run, and until when. An engine invocation claims the run and renews its claim; a run has one
// deadline for waiting and one for working. A run that waits fails at `deadline_at`, before anything is paid. A request
// that was submitted then gets as long again, and so does the run after each request that has succeeded: what is paid
// for has the time to end.
import { SET_LAST_EVENT_XACT } from "./event-log.ts";

/** A run claimed by one engine invocation. */
export type RunClaim = { run_id: string; tenant_id: string; epoch: number };

/** How long a step may take without renewing its claim before the reconciler requeues the run. */
export const CLAIM_SECONDS = 120;

/** The deadline of a run in quarantine. Nothing executes such a run until an operator retries or ends it. */
export const QUARANTINE_DEADLINE = "9999-01-01 00:00:00+00";

/** What the start of a run changes in its row, here and in the statement that also claims its first attempt. */
export const SET_STARTED = `status = 'processing', progress = 0.01, started_at = now(), phase = 'submitting',
       ${SET_LAST_EVENT_XACT}`;

/** The most that a request gets. A run that an operator has released from quarantine has a late deadline. */
const MAX_WORKING_TIME = "interval '1 hour'";

/**
 * When a row of `open_runs` fails if it has not ended. Attempts that failed do not count, so a provider that is busy
 * for hours does not keep the run. Reads other tables only if the deadline for waiting has passed.
 */
export const deadlineSql = ({ run }: { run: string }) => `case when ${run}.deadline_at > now() then ${run}.deadline_at
     else greatest(${run}.deadline_at, (
       select max(case when state = 'succeeded' then finished_at else coalesce(submitted_at, created_at) end)
       from attempts
       where attempts.run_id = ${run}.run_id and state in ('intent', 'unknown', 'submitted', 'succeeded')
     ) + least(${run}.deadline_at - (select created_at from runs where runs.run_id = ${run}.run_id), ${MAX_WORKING_TIME}))
     end`;

/** Seconds until a row of `open_runs` fails; not positive if it is due. */
export const remainingSql = ({ run }: { run: string }) => `extract(epoch from ${deadlineSql({ run })} - now())::float`;

// Attempts whose response is in the spool of a worker: whether the response is still needed, and by which run.

import type { Database } from "../connect.ts";
import { QUARANTINE_DEADLINE, type RunClaim } from "../run-claims.ts";
import { statement } from "../statement.ts";
import type { AttemptRef } from "./attempts.ts";

const FIND = statement(
  "spooled_attempts.find",
  `select open_runs.tenant_id, open_runs.epoch, attempts.ticket is null and attempts.state in ('intent', 'unknown')
       as is_unresolved, coalesce(extract(epoch from attempts.lease_until - now()), 0)::float as lease_seconds,
     coalesce(deadline_at >= '${QUARANTINE_DEADLINE}', false) as is_quarantined
   from attempts left join open_runs on open_runs.run_id = attempts.run_id
   where attempts.run_id = :run_id and attempts.request_index = :request_index
     and attempts.attempt_number = :attempt_number`,
).columns<{ is_unresolved: boolean; lease_seconds: number; is_quarantined: boolean }>();

export type SpooledAttempt = {
  /** The current claim of the run. Undefined if the run has ended or the outcome of the attempt is known. */
  claim: RunClaim | undefined;
  /** Seconds until the lease expires; not positive if it has expired. */
  leaseSeconds: number;
  isQuarantined: boolean;
};

/** Undefined if this database does not have the attempt. */
export async function findSpooledAttempt(
  db: Database,
  { run_id, request_index, attempt_number }: AttemptRef,
): Promise<SpooledAttempt | undefined> {
  const [row] = await db.execute(FIND, { run_id, request_index, attempt_number });
  if (!row) return undefined;
  const { tenant_id, epoch, is_unresolved, lease_seconds, is_quarantined } = row;
  const isNeeded = is_unresolved && tenant_id !== null && epoch !== null;
  const claim = isNeeded ? { run_id, tenant_id, epoch } : undefined;
  return { claim, leaseSeconds: lease_seconds, isQuarantined: is_quarantined };
}

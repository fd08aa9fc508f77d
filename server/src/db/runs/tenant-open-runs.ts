// The open runs of one tenant, and the jobs of its ended runs that are still to be canceled at their providers.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type TenantOpenRun = {
  run_id: string;
  is_cancel_requested: boolean;
  /** The run did not end by itself within the time, and no request to a provider is in flight. */
  is_stuck: boolean;
};

const LIST = statement(
  "tenant_open_runs.list",
  `select run_id, cancel_requested_at is not null as is_cancel_requested,
     coalesce(cancel_requested_at < now() - make_interval(secs => :grace_seconds), false) and not exists (
       select from attempts where attempts.run_id = open_runs.run_id and lease_until > now()
         and state in ('intent', 'unknown')) as is_stuck
   from open_runs where tenant_id = :tenant_id order by run_id limit :limit`,
).columns<Omit<TenantOpenRun, "run_id">>();

export async function listOpenRunsOfTenant(
  db: Database,
  tenantId: string,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<TenantOpenRun[]> {
  return db.execute(LIST, { tenant_id: tenantId, grace_seconds: graceSeconds, limit });
}

const COUNT_CANCELLATIONS = statement(
  "tenant_open_runs.count_cancellations",
  `select count(*)::int as jobs from outbox join runs on runs.run_id = (payload ->> 'run_id')::uuid
   where kind = 'cancel_job' and tenant_id = :tenant_id and attempt_count < :attempts`,
).columns<{ jobs: number }>();

/** Cancellations at providers that were tried less than `attempts` times. */
export async function countPendingCancellations(db: Database, tenantId: string, attempts: number): Promise<number> {
  const [row] = await db.execute(COUNT_CANCELLATIONS, { tenant_id: tenantId, attempts });
  return row!.jobs;
}

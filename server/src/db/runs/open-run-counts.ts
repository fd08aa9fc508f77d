// How many runs are open: of one tenant, and of the whole installation with what operators watch.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const COUNT_OF_TENANT = statement(
  "open_runs.count_of_tenant",
  "select count(*)::int as open from open_runs where tenant_id = :tenant_id",
).columns<{ open: number }>();

export async function countOpenRuns(db: Database, tenantId: string): Promise<number> {
  const [row] = await db.execute(COUNT_OF_TENANT, { tenant_id: tenantId });
  return row!.open;
}

export type InstallationLoad = {
  waiting: number;
  processing: number;
  oldest_wait_seconds: number;
  unknown_outcomes: number;
  stored_bytes: number;
  stored_files: number;
};

const INSTALLATION_LOAD = statement(
  "open_runs.installation_load",
  `select count(*) filter (where open_runs.started_at is null)::int as waiting,
     count(*) filter (where open_runs.started_at is not null)::int as processing,
     coalesce(extract(epoch from now() - min(runs.created_at) filter (where open_runs.started_at is null)), 0)::float
       as oldest_wait_seconds,
     (select count(*)::int from attempts
       where run_id = any(array(select run_id from open_runs)) and state = 'unknown') as unknown_outcomes,
     (select coalesce(sum(bytes), 0)::bigint from storage_usage) as stored_bytes,
     (select coalesce(sum(files), 0)::bigint from storage_usage) as stored_files
   from open_runs join runs using (run_id)`,
).columns<InstallationLoad>();

/** Over all tenants: only for operations of the operator, with a database that is not scoped to a tenant. */
export async function readInstallationLoad(db: Database): Promise<InstallationLoad> {
  const [row] = await db.execute(INSTALLATION_LOAD);
  return row!;
}

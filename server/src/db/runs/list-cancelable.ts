// Open runs of a tenant that a request to cancel by filter is for.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { IS_OF_END_USER } from "./runs.ts";

type CancelableFilter = {
  status: string;
  run_type?: string | undefined;
  model?: string | undefined;
  key_id?: string | undefined;
  user_id?: string | undefined;
  created_before?: string | undefined;
};

const LIST_CANCELABLE = statement(
  "runs.list_cancelable",
  `select open_runs.run_id from open_runs
     join runs on runs.run_id = open_runs.run_id and runs.tenant_id = open_runs.tenant_id
   where open_runs.tenant_id = :tenant_id and open_runs.cancel_requested_at is null and runs.status = :status
     and ${IS_OF_END_USER}
     and (:run_type?::text is null or runs.run_type = :run_type?)
     and (:model?::text is null or runs.model = :model?)
     and (:key_id?::uuid is null or open_runs.key_id = :key_id?)
     and (:user_id?::text is null or runs.user_id = :user_id?)
     and (:created_before?::timestamptz is null or date_trunc('milliseconds', runs.created_at) < :created_before?)
   order by open_runs.run_id limit :limit`,
);

/** Oldest first, without runs that were asked to stop already: they stay open until they notice it. */
export async function listCancelableRuns(
  db: Database,
  tenantId: string,
  filter: CancelableFilter,
  limit: number,
): Promise<string[]> {
  const { status, run_type, model, key_id, user_id, created_before } = filter;
  const values = {
    tenant_id: tenantId,
    end_user: db.endUser,
    status,
    run_type,
    model,
    key_id,
    user_id,
    created_before,
    limit,
  };
  return (await db.execute(LIST_CANCELABLE, values)).map(({ run_id }) => run_id);
}

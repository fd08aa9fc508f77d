// Finds the run that a request names. A run of another tenant returns run_not_found, as if it did not exist.
import type { RequestContext } from "../../access/request-context.ts";
import { findRun, type RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";

export async function requireOwnRun(
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  runId: string,
): Promise<RunRow> {
  const row = await findRun(database, caller.tenant_id, runId);
  if (!row) throw new Fault("run_not_found");
  if (row.deleted_at) throw new Fault("run_deleted");
  return row;
}

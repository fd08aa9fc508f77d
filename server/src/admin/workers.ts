// The workers of the installation for operators, and which of them may be drained.
import type { RequestContext } from "../access/request-context.ts";
import { listWorkers } from "../db/admin/workers.ts";
import { Fault } from "../faults.ts";
import type { WorkerList } from "../kit/schemas/workers.ts";

type Caller = Pick<RequestContext, "database">;

export async function listWorkersForOperator({ database }: Caller): Promise<WorkerList> {
  const rows = await listWorkers(database);
  return {
    data: rows.map(({ started_at, draining_since, ...row }) => ({
      ...row,
      started_at: started_at.toISOString(),
      draining_since: draining_since?.toISOString() ?? null,
    })),
  };
}

/** Without another worker nothing would continue the runs until the worker is resumed. */
export async function requireOtherWorker({ database }: Caller, workerId: string): Promise<void> {
  const workers = await listWorkers(database);
  if (!workers.some(({ worker_id }) => worker_id === workerId)) throw new Fault("route_not_found");
  const others = workers.filter(({ worker_id, draining_since }) => worker_id !== workerId && draining_since === null);
  if (others.length === 0) throw new Fault("conflict", { retryable: false, reason: "last_worker" });
}

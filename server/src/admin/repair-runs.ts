// Repairs of one run by an operator: end it, start it again, or take it out of execution. Nothing here submits a job,
// and the ledger stays balanced.
import type { RequestContext } from "../access/request-context.ts";
import type { RepairedRun } from "../contract/schemas/admin-repairs.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import { findRunToRepair, quarantineOpenRun, retryOpenRun } from "../db/admin/repair-runs.ts";
import { Fault } from "../faults/faults.ts";
import type { Notifications } from "../runs/core/notifications.ts";
import { endFromOutside } from "../runs/upkeep/end-from-outside.ts";

export type RepairDependencies = { notifications: Notifications; deadlineSeconds: number };
type Caller = Pick<RequestContext, "database" | "caller">;

export async function endRunByOperator(
  { notifications }: RepairDependencies,
  { database, caller }: Caller,
  runId: string,
): Promise<RepairedRun> {
  const { tenant_id } = await requireOpenRun(database, runId);
  // Before the end, so that no end by an operator is without an entry.
  await insertOperatorEntry(database, caller, { tenant_id, action: "admin.end", subject: runId });
  const fault = new Fault("run_timeout", { retryable: false, reason: "ended_by_operator" });
  await endFromOutside({ database, notifications }, runId, { status: "failed", fault });
  return { run_id: runId, state: "ended" };
}

export async function retryRunByOperator(
  { notifications, deadlineSeconds }: RepairDependencies,
  { database, caller }: Caller,
  runId: string,
): Promise<RepairedRun> {
  await requireOpenRun(database, runId);
  const epoch = await retryOpenRun(database, caller, { run_id: runId, deadlineSeconds });
  if (epoch === undefined) throw hasEnded();
  notifications.runQueued();
  return { run_id: runId, state: "queued" };
}

export async function quarantineRunByOperator({ database, caller }: Caller, runId: string): Promise<RepairedRun> {
  await requireOpenRun(database, runId);
  const epoch = await quarantineOpenRun(database, caller, runId);
  if (epoch === undefined) throw hasEnded();
  return { run_id: runId, state: "quarantined" };
}

const hasEnded = () => new Fault("conflict", { retryable: false, reason: "run_ended" });

async function requireOpenRun(database: RequestContext["database"], runId: string) {
  const run = await findRunToRepair(database, runId);
  if (!run) throw new Fault("run_not_found");
  if (run.status !== "queued" && run.status !== "processing") throw hasEnded();
  return run;
}

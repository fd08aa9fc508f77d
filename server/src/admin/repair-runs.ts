// Repairs of one run by an operator: end it, start it again, take it out of execution, or settle an attempt whose
// outcome is unknown. Nothing here submits a job, and the ledger stays balanced.
import type { RequestContext } from "../access/request-context.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import { findRunToRepair, quarantineOpenRun, retryOpenRun } from "../db/admin/repair-runs.ts";
import { listUnknownOutcomes, settleUnknownOutcome } from "../db/admin/unknown-outcomes.ts";
import { Fault } from "../faults.ts";
import type { AdminServices } from "../kit/admin-services.ts";
import type { RepairedRun, SettledOutcome, UnknownOutcomeList } from "../kit/schemas/admin-repairs.ts";
import { endFromOutside } from "../runs/end-from-outside.ts";
import { deriveId, toAttemptRef } from "../runs/ids.ts";
import type { Services } from "../runs/services.ts";

const MICRODOLLARS = 1e6;

export type RepairDependencies = Pick<Services, "notifications"> & { deadlineSeconds: number };
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

export async function listUnknownOutcomesForOperator(
  { database }: Caller,
  page: { before?: string | undefined; limit: number },
): Promise<UnknownOutcomeList> {
  const rows = await listUnknownOutcomes(database, page);
  return {
    data: rows.map((row) => ({
      run_id: row.run_id,
      tenant_id: row.tenant_id,
      operation: row.operation,
      job: row.request_index,
      try: row.attempt_number,
      provider: row.provider,
      upstream: row.upstream,
      idempotency_key: row.idempotency_key,
      price: row.price === null ? null : row.price / MICRODOLLARS,
      unknown_since: row.unknown_since.toISOString(),
      run_status: row.status as UnknownOutcomeList["data"][number]["run_status"],
    })),
  };
}

export async function settleOutcomeByOperator(
  { database, caller }: Caller,
  { run_id, job, try: attemptNumber, charged }: Parameters<AdminServices["settle"]>[0],
): Promise<SettledOutcome> {
  const run = await findRunToRepair(database, run_id);
  if (!run) throw new Fault("run_not_found");
  const charge = Math.round(charged * MICRODOLLARS);
  const attempt = toAttemptRef(run_id, job, attemptNumber);
  const transfer_id = deriveId(run_id, "settle", job, attemptNumber);
  const recorded = await settleUnknownOutcome(database, caller, { ...attempt, charge, transfer_id });
  if (recorded === undefined) {
    const reason = run.status === "queued" || run.status === "processing" ? "run_open" : "nothing_to_settle";
    throw new Fault("conflict", { retryable: false, reason });
  }
  return { run_id, job, try: attemptNumber, charged: charge / MICRODOLLARS, recorded: recorded / MICRODOLLARS };
}

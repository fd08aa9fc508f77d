// Ends an open run from outside of its invocation, and cancels the jobs that its providers may still be working on.
import { endRun, type RunningJob } from "../db/runs/open-runs.ts";
import { insertOutboxItem } from "../db/runs/outbox.ts";
import type { Fault } from "../faults.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";

/** False if the run had ended. */
export async function endFromOutside(
  { database, notifications, ids }: Pick<Services, "database" | "notifications" | "ids">,
  { run_id, jobs }: { run_id: string; jobs: RunningJob[] },
  fault: Fault,
): Promise<boolean> {
  const end = { status: "failed", error: fault.body() } as const;
  if (!(await endRun(database, { run_id }, end, deriveId(run_id, "end")))) return false;
  notifications.runEnded(run_id);
  for (const job of jobs)
    await insertOutboxItem(database, { outbox_id: ids.next(), kind: "cancel_job", payload: { run_id, ...job } });
  return true;
}

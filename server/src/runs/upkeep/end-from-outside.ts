// Ends an open run from outside of its invocation. The statement that ends the run also writes the jobs that its
// providers may still be working on to the outbox, so a crash at any point loses neither the end nor a cancellation.
import type { Database } from "../../db/connect.ts";
import { endRun } from "../../db/runs/end-runs.ts";
import type { Fault } from "../../faults/faults.ts";
import { deriveId } from "../core/ids.ts";
import type { Notifications } from "../core/notifications.ts";

/** False if the run had ended. */
export async function endFromOutside(
  { database, notifications }: { database: Database; notifications: Notifications },
  runId: string,
  { status, fault }: { status: "failed" | "canceled"; fault: Fault },
): Promise<boolean> {
  if (!(await endRun(database, { run_id: runId }, { status, error: fault.body() }, deriveId(runId, "end"))))
    return false;
  notifications.runEnded(runId);
  return true;
}

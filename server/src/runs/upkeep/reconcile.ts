// Repairs what the engine or a worker lost: requeues runs whose claim has expired under a new epoch, and fails runs
// past their deadline.
import type { Database } from "../../db/connect.ts";
import { listOverdueRuns, requeueExpiredClaims } from "../../db/runs/open-runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { Notifications } from "../core/notifications.ts";
import type { Runtime } from "../core/runtime.ts";
import type { DatabaseSteadiness } from "../ownership/database-steadiness.ts";
import { isDatabaseSteady } from "../ownership/observe-database.ts";
import { endFromOutside } from "./end-from-outside.ts";

const BATCH = 500;
/** A run fails itself at its deadline, with a more precise error. The reconciler only acts if the run did not. */
const DEADLINE_GRACE_SECONDS = 20;

type SteadyDependencies = Pick<Runtime, "clock" | "ids" | "log"> & {
  database: Database;
  notifications: Notifications;
  steadiness: DatabaseSteadiness;
};

export async function requeueExpiredRuns(services: SteadyDependencies): Promise<number> {
  const { database, notifications, log } = services;
  if (!(await isDatabaseSteady(services))) return 0;
  const requeued = await requeueExpiredClaims(database, BATCH);
  if (requeued.length > 0) {
    log.warn({ runs: requeued.length }, "run claims expired; runs requeued");
    notifications.runQueued();
  }
  return requeued.length;
}

export async function failOverdueRuns(services: SteadyDependencies, signal?: AbortSignal): Promise<number> {
  // After an outage the runs first get what is in spools and at their providers.
  if (!(await isDatabaseSteady(services))) return 0;
  const overdue = await listOverdueRuns(services.database, DEADLINE_GRACE_SECONDS, BATCH);
  for (const runId of overdue) {
    signal?.throwIfAborted();
    await endFromOutside(services, runId, { status: "failed", fault: new Fault("run_timeout") });
  }
  return overdue.length;
}

// Cancels runs of the caller's tenant: one by its ID, or open runs by a filter. Both cancel each run in the same way.

import type { RequestContext } from "../access/request-context.ts";
import type { RunCancelFilter } from "../contract/run-filters.ts";
import type { CanceledRuns } from "../contract/schemas/library.ts";
import { listCancelableRuns } from "../db/runs/list-cancelable.ts";
import { requestCancellation } from "../db/runs/open-runs.ts";
import { Fault } from "../faults/faults.ts";
import { deriveId } from "../runs/core/ids.ts";
import type { Notifications } from "../runs/core/notifications.ts";

/** Runs that one request cancels: each takes a statement of its own. */
const MAX_RUNS = 100;

export type CancelDependencies = { notifications: Notifications };
type CancelContext = Pick<RequestContext, "database" | "caller">;

/** A run that has started is asked to stop, unless `isQueuedOnly`. Returns false if nothing was canceled. */
export async function cancelOpenRun(
  { notifications }: CancelDependencies,
  { database, caller }: CancelContext,
  runId: string,
  isQueuedOnly = false,
): Promise<boolean> {
  const error = new Fault("canceled_by_user").body();
  const eventId = deriveId(runId, "end");
  const cancellation = await requestCancellation(database, caller.tenant_id, runId, error, eventId, isQueuedOnly);
  if (!cancellation.ended && !cancellation.is_requested) return false;
  if (cancellation.ended) notifications.runEnded(runId);
  // A wakeup that cannot be resolved now only costs time: the run checks for cancellation whenever it resumes.
  for (const wakeupId of cancellation.wakeupIds) await notifications.resolveWakeup(wakeupId, "cancel").catch(() => {});
  return true;
}

/** Runs that start or end meanwhile are skipped, and not counted. */
export async function cancelMatchingRuns(
  services: CancelDependencies,
  context: CancelContext,
  filter: RunCancelFilter,
): Promise<CanceledRuns> {
  const runIds = await listCancelableRuns(context.database, context.caller.tenant_id, filter, MAX_RUNS + 1);
  let canceled = 0;
  for (const runId of runIds.slice(0, MAX_RUNS))
    if (await cancelOpenRun(services, context, runId, filter.status === "queued")) canceled++;
  return { canceled, more: runIds.length > MAX_RUNS };
}

// Notifications between processes: a run was queued, a run has ended, a waiting run should resume. All of them are
// hints. A lost notification only costs time, because every receiver also polls.
import type { Database } from "../../db/connect.ts";
import { createNotifier } from "../../db/notifications.ts";
import type { Clock } from "../../runtime/clock.ts";

/** `called_back`: a callback reported that the job has ended, and its ticket is all that is known about it. */
export type WakeupReason = "ended" | "called_back" | "cancel";

export type Notifications = {
  /** Tells the dispatcher that a run is queued; without a queue, that any queue may have changed. */
  runQueued(queue?: { tenant_id: string; lane: string }): void;
  /** Tells the API processes that a run has ended, for requests that wait for it. */
  runEnded(runId: string): void;
  /** Resolves the awakeable that a run waits for. Throws if the engine is unavailable. */
  resolveWakeup(wakeupId: string, reason: WakeupReason): Promise<void>;
};

type Dependencies = { database: Database; clock: Pick<Clock, "after"> };

export function createNotifications(
  dependencies: Dependencies,
  engine: Pick<Notifications, "resolveWakeup">,
): Notifications {
  const queued = createNotifier(dependencies, "gesso_queued");
  const ended = createNotifier(dependencies, "gesso_ended");
  return {
    runQueued: (queue) => queued.notify(queue ? `${queue.tenant_id}/${queue.lane}` : "queued"),
    runEnded: (runId) => ended.notify(runId),
    resolveWakeup: engine.resolveWakeup,
  };
}

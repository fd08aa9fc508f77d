// Finds the run that kills the workers which store its results, and stops it. Every process marks the runs whose
// results it stores (`work-marks.ts`). When it dies, all marked runs become suspects. A suspect is held back, then
// stored by one worker at a time and beside no other suspect. So each further death has one culprit, which goes into
// quarantine, while runs that were only beside it complete.
import type { Database } from "../../db/connect.ts";
import {
  acquireSuspectRun,
  countWorkerDeaths,
  listSuspectRuns,
  releaseSuspectRun,
} from "../../db/runs/suspect-runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { WorkMarks } from "./work-marks.ts";

/** How often a process looks for dead ones and reads the suspects. */
export const SUSPECTS_INTERVAL_MS = 2000;
/** Marks of a dead process stay until all processes have read that its runs are suspects. */
const FORGET_AFTER_MS = 3 * SUSPECTS_INTERVAL_MS;
/** A step waits no longer for its turn; the engine then repeats it, which renews the claim of the run. */
const MAX_WAIT_MS = 10_000;
const WAIT_MS = 1000;

export type SuspectRuns = {
  /** Stores results of the run. Undefined if the run is in quarantine; throws a transient fault if it is held back. */
  guard<T>(runId: string, store: () => Promise<T>): Promise<T | undefined>;
  /** Whether `guard` would wait. */
  isHeldBack(runId: string): Promise<boolean>;
  /** Counts the deaths of other processes, and reads the suspects. */
  update(): Promise<void>;
  /** Removes the marks of this process. */
  close(): Promise<void>;
};

type Dependencies = { database: Database; clock: Clock; log: Log; marks: WorkMarks };

export function createSuspectRuns({ database, clock, log, marks }: Dependencies): SuspectRuns {
  /** Until when each suspect is held back, by the monotonic clock. */
  let suspects = new Map<string, number>();
  const countDeaths = createDeathCount({ database, clock, log, marks });
  let lastTurn: Promise<unknown> = Promise.resolve();
  /** Results of several requests of a run are stored side by side under one mark. */
  const working = new Map<string, number>();

  const heldBack = () => new Fault("dependency_unavailable", {}, { cause: "a worker died while it stored the run" });
  /** A disk that takes no marks must not keep a paid result from being stored. */
  const logFailure = (thrown: unknown) => log.warn({ err: thrown }, "marking a run on the disk failed");
  const isMarkedElsewhere = async (runId: string) => (await marks.isMarkedElsewhere(runId).catch(logFailure)) ?? false;
  const waitForOthers = async (runId: string) => {
    const giveUpAt = clock.monotonic() + MAX_WAIT_MS;
    while (await isMarkedElsewhere(runId)) {
      if (clock.monotonic() >= giveUpAt) throw heldBack();
      await clock.sleep(WAIT_MS);
    }
  };
  const storeMarked = async <T>(runId: string, isApart: boolean, store: () => Promise<T>): Promise<T> => {
    working.set(runId, (working.get(runId) ?? 0) + 1);
    await marks.add({ run_id: runId, isApart }).catch(logFailure);
    try {
      return await store();
    } finally {
      const left = working.get(runId)! - 1;
      if (left > 0) working.set(runId, left);
      else {
        working.delete(runId);
        await marks.remove(runId).catch(logFailure);
      }
    }
  };
  const storeSuspect = async <T>(runId: string, store: () => Promise<T>): Promise<T | undefined> => {
    const lease = await acquireSuspectRun(database, runId);
    if (!lease) return storeMarked(runId, false, store);
    if (lease.is_quarantined) return undefined;
    if (!lease.is_acquired) {
      suspects.set(runId, clock.monotonic() + lease.held_seconds * 1000);
      throw heldBack();
    }
    try {
      return await storeMarked(runId, true, store);
    } finally {
      await releaseSuspectRun(database, runId).catch(() => {});
    }
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = lastTurn.then(work);
    lastTurn = turn.catch(() => {});
    return turn;
  };
  return {
    async guard(runId, store) {
      await waitForOthers(runId);
      const heldUntil = suspects.get(runId);
      if (heldUntil === undefined) return storeMarked(runId, false, store);
      const waitMs = Math.min(heldUntil - clock.monotonic(), MAX_WAIT_MS);
      if (waitMs > 0) await clock.sleep(waitMs);
      return inTurn(() => storeSuspect(runId, store));
    },
    async isHeldBack(runId) {
      return (suspects.get(runId) ?? 0) > clock.monotonic() || (await isMarkedElsewhere(runId));
    },
    async update() {
      await countDeaths();
      const rows = await listSuspectRuns(database);
      suspects = new Map(rows.map((row) => [row.run_id, clock.monotonic() + row.held_seconds * 1000]));
    },
    close: () => marks.close(),
  };
}

/** The result counts the deaths of processes, for each run that they were storing. */
function createDeathCount({ database, clock, log, marks }: Dependencies): () => Promise<void> {
  /** Dead processes that were counted, and when. */
  const counted = new Map<string, number>();
  return async () => {
    for (const { name, process, marks: found } of await marks.takeDead()) {
      const deaths = found.map(({ run_id, isApart }) => ({ run_id, wasApart: isApart, process }));
      for (const { run_id, deaths: count, is_quarantined } of await countWorkerDeaths(database, deaths))
        if (is_quarantined)
          log.error({ run_id, deaths: count }, "the run is in quarantine: workers die while they store its results");
        else log.warn({ run_id, deaths: count }, "a worker died while it stored results of the run; it is held back");
      counted.set(name, clock.monotonic());
    }
    for (const [name, at] of counted) {
      if (clock.monotonic() - at < FORGET_AFTER_MS) continue;
      await marks.forget(name);
      counted.delete(name);
    }
  };
}

// Keeps the sums of usage: adds runs that have ended from the event log, and once all runs that ended before the
// sums existed. A crash loses nothing and repeats nothing, because each statement also stores how far it has come.
import type { Database } from "../../db/connect.ts";
import { addEndedRuns, backfillUsage, resetUsage, startUsage, type UsageSums } from "../../db/money/usage-sums.ts";
import { readEndFigures } from "../../db/runs/end-figures.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";

type TurnSize = { events: number; olderRuns: number };
const TURN_SIZE: TurnSize = { events: 2000, olderRuns: 5000 };

type Dependencies = Pick<Runtime, "metrics" | "log"> & {
  database: Database;
  settings: Pick<RunSettings, "eventRetentionDays">;
};

/** Adds the next batches. Returns whether there may be more to add at once. */
export async function sumUsageOfEndedRuns(services: Dependencies, size = TURN_SIZE): Promise<boolean> {
  const daily = await addNextRuns(services, "daily_usage", size);
  await countEndedRuns(services, daily.endedRunIds);
  const attributed = await addNextRuns(services, "attributed_usage", size);
  return daily.hasMore || attributed.hasMore;
}

async function addNextRuns({ database, settings }: Dependencies, sums: UsageSums, { events, olderRuns }: TurnSize) {
  const added = await addEndedRuns(database, sums, events, settings.eventRetentionDays);
  const endedRunIds = added.ended_run_ids;
  if (!added.is_started) {
    await startUsage(database, sums);
    return { endedRunIds, hasMore: true };
  }
  if (added.is_outdated) {
    await resetUsage(database, sums);
    return { endedRunIds, hasMore: true };
  }
  const hasOlder = added.is_backfilling && (await backfillUsage(database, sums, olderRuns));
  return { endedRunIds, hasMore: hasOlder || added.events === events };
}

const MICRODOLLARS = 1e6;

/**
 * Counts runs that have ended, their attempts and what they wasted. The position in the event log advances before
 * this, so no run is counted twice; those of a process that dies in between are not counted.
 */
async function countEndedRuns(
  { database, metrics, log }: Pick<Runtime, "metrics" | "log"> & { database: Database },
  runIds: string[],
): Promise<void> {
  if (!metrics.isEnabled || runIds.length === 0) return;
  try {
    const { runs, attempts, wasted } = await readEndFigures(database, runIds);
    for (const { operation, status, error_code, count } of runs)
      metrics.count("gesso.runs.ended", { operation, status, error_code }, count);
    for (const { provider, outcome, count } of attempts)
      metrics.count("gesso.attempts.ended", { provider, outcome }, count);
    if (wasted > 0) metrics.count("gesso.money.wasted", {}, wasted / MICRODOLLARS);
  } catch (thrown) {
    // Figures must not stop the sums of usage.
    log.warn({ runs: runIds.length, err: thrown }, "counting ended runs failed");
  }
}

// Keeps the daily sums of usage: adds runs that have ended from the event log, and once all runs that ended before the
// sums existed. A crash loses nothing and repeats nothing, because each statement also stores how far it has come.
import type { Database } from "../../db/connect.ts";
import { addEndedRuns, backfillDailyUsage, resetDailyUsage, startDailyUsage } from "../../db/money/daily-usage.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";
import { countEndedRuns } from "./count-ended-runs.ts";

type TurnSize = { events: number; olderRuns: number };
const TURN_SIZE: TurnSize = { events: 2000, olderRuns: 5000 };

type Dependencies = Pick<Runtime, "metrics" | "log"> & {
  database: Database;
  settings: Pick<RunSettings, "eventRetentionDays">;
};

/** Adds the next batch. Returns whether there may be more to add at once. */
export async function sumUsageOfEndedRuns(services: Dependencies, { events, olderRuns } = TURN_SIZE): Promise<boolean> {
  const { database, settings } = services;
  const added = await addEndedRuns(database, events, settings.eventRetentionDays);
  await countEndedRuns(services, added.ended_run_ids);
  if (!added.is_started) {
    await startDailyUsage(database);
    return true;
  }
  if (added.is_outdated) {
    await resetDailyUsage(database);
    return true;
  }
  const hasOlder = added.is_backfilling && (await backfillDailyUsage(database, olderRuns));
  return hasOlder || added.events === events;
}

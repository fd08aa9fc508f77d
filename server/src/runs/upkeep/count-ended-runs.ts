// Counts runs that have ended, their attempts and what they wasted. The position in the event log advances before this,
// so no run is counted twice; those of a process that dies in between are not counted.
import type { Database } from "../../db/connect.ts";
import { readEndFigures } from "../../db/runs/end-figures.ts";
import type { Runtime } from "../core/runtime.ts";

const MICRODOLLARS = 1e6;

export async function countEndedRuns(
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

// Takes note of when PostgreSQL answers and of the time on its clock. If the clock was set, the times of open runs are
// shifted with it.
import type { Database } from "../../db/connect.ts";
import { readDatabaseTime } from "../../db/database-time.ts";
import { shiftOpenTimes } from "../../db/runs/shift-times.ts";
import type { Runtime } from "../core/runtime.ts";
import type { DatabaseAnswer, DatabaseSteadiness } from "./database-steadiness.ts";

type Dependencies = Pick<Runtime, "clock" | "ids" | "log"> & { database: Database; steadiness: DatabaseSteadiness };

/** Takes note of the answer. If PostgreSQL's clock was set, the times of open runs are shifted with it. */
export async function observeDatabase({ database, steadiness, ids, log }: Dependencies, answer: DatabaseAnswer) {
  steadiness.observe(answer);
  const seconds = steadiness.jumpMs() / 1000;
  if (seconds === 0) return;
  const isFirst = await shiftOpenTimes(database, { seconds, holder: ids.next() });
  steadiness.shifted();
  log.error({ seconds, shifted_here: isFirst }, "the clock of PostgreSQL was set; the times of open runs are shifted");
}

/** Asks PostgreSQL now, because its clock may have been set since the last report. */
export async function isDatabaseSteady(services: Dependencies): Promise<boolean> {
  const sentAt = services.clock.monotonic();
  await observeDatabase(services, { ...(await readDatabaseTime(services.database)), sentAt });
  return services.steadiness.isSteady();
}

// The campaign of outages: faults that kill no process, one after the other under load, and a run that kills its
// workers. A result that a vendor delivered to a living process must be delivered, however long the outage lasted.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type CampaignReport, type Log, onlyPoint } from "../support/campaign.ts";
import { startChaosEnvironment } from "./chaos-environment.ts";
import { checkInvariants } from "./check-invariants.ts";
import { createSteppedClock, injectOutage, mountDatabaseDisk, type Outage } from "./outage-kinds.ts";
import { CHAOS_ENV, createRunRequest } from "./process-kills.ts";
import { type PostedRun, postWhile, waitUntilAllEnded } from "./run-load.ts";

/** Clocks step last: until then the times in PostgreSQL can be compared with those of the campaign. */
export const OUTAGES: Outage[] = [
  { name: "poison_run" },
  { name: "vendor_hangs", seconds: 20 },
  { name: "processes_suspended", seconds: 30 },
  { name: "overload", seconds: 30, perSecond: 25 },
  ...[5, 20, 60, 120, 300].map((seconds) => ({ name: "database_away", seconds }) as const),
  { name: "processes_suspended", seconds: 90 },
  { name: "machine_suspended", seconds: 60 },
  { name: "database_disk_full", seconds: 40 },
  { name: "poison_run" },
  ...[120, 3600, -600].map((seconds) => ({ name: "database_clock_stepped", seconds }) as const),
];
export const SHORT_OUTAGES: Outage[] = [
  { name: "poison_run" },
  { name: "processes_suspended", seconds: 12 },
  { name: "database_away", seconds: 15 },
];

/** Between two outages, so that runs are in flight when the next one begins. */
const PAUSE_MS = 5000;
/** Clients wait for an API without a database as long as the longest outage. */
const POST_SECONDS = 600;

export async function outageCampaign(
  { outages, perSecond }: { outages: Outage[]; perSecond: number },
  log: Log,
): Promise<CampaignReport> {
  const selected = outages.filter(({ name }) => onlyPoint === undefined || onlyPoint === name);
  const hasSteps = selected.some(({ name }) => name === "database_clock_stepped");
  const clock = createSteppedClock();
  const disk = selected.some(({ name }) => name === "database_disk_full") ? mountDatabaseDisk() : undefined;
  const environment = await startChaosEnvironment({
    roles: "split",
    secondWorker: true,
    hasProxies: true,
    env: CHAOS_ENV,
    ...(disk && { postgresDir: join(disk.directory, "data") }),
    ...(hasSteps && { postgresEnv: clock.postgresEnv }),
  });
  environment.databaseDisk = disk?.directory;
  // Long enough that requests are in flight at any time, and shorter than the timeout of a request.
  environment.openai.switches.workMs = 4000;
  try {
    let isOver = false;
    const ownRuns: PostedRun[] = [];
    const request = (index: number) => createRunRequest(index, false);
    const loading = postWhile(environment, () => !isOver, perSecond, request, POST_SECONDS);
    for (const outage of selected) {
      await pause(PAUSE_MS);
      const { hits, runs = [] } = await environment.faults.during(outage.name, () =>
        injectOutage(environment, clock, outage),
      );
      environment.faults.addHits(outage.name, hits);
      ownRuns.push(...runs);
      log(`${JSON.stringify(outage)}: ${JSON.stringify(hits)}`);
    }
    await pause(PAUSE_MS);
    isOver = true;
    const posted = [...(await loading), ...ownRuns];
    await waitUntilAllEnded(environment, 240);
    return {
      name: `${posted.length} runs, ${selected.length} outages`,
      results: [...(await checkInvariants(environment, posted)), environment.faults.checkHits()],
      notes: [`faults: ${environment.faults.summary()}`],
      counts: { runs: posted.length, kills: environment.faults.killCount() },
    };
  } finally {
    await environment.stop();
    disk?.unmount();
  }
}

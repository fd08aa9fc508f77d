// What operators have running beside the load: metrics are read, history is archived and backups are taken. Time is
// scaled: what production keeps for weeks is kept for minutes, so that an hour sees what a day does.
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { archiveHistory } from "../../src/runs/upkeep/archive.ts";
import { createArchiveServices } from "../archive/archive-services.ts";
import type { ArchivedPostgres } from "../restore/archived-postgres.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

const METRICS_SECONDS = 15;
const [ARCHIVES_PER_DAY, BACKUPS_PER_DAY, KEPT_BACKUPS] = [24, 6, 2];
/** Files, events and rows of older runs are due. */
const KEPT_HOURS = 2;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

export type Operations = {
  report(): { metrics_read: number; archived: number; backups: number; failed: number };
  stop(): Promise<void>;
};

/** `dayMinutes`: how long the scaled day takes. */
type OperationsOptions = { metricsPorts: number[]; dayMinutes: number };

export function startOperations(
  environment: TestEnvironment,
  postgres: ArchivedPostgres,
  { metricsPorts, dayMinutes }: OperationsOptions,
): Operations {
  const [daySeconds, keptSeconds] = [dayMinutes * 60, (dayMinutes * 60 * KEPT_HOURS) / 24];
  const counts = { metrics_read: 0, archived: 0, backups: 0, failed: 0 };
  const { services, clock, database } = createArchiveServices(environment.databaseUrl, environment.storageDir);
  // For the archive all runs are of last year. Those with files or events stay, and these are deleted by age below.
  clock.at = Date.now() + YEAR_MS;
  const repeat = (seconds: number, work: () => Promise<void>) => {
    let current = Promise.resolve();
    const fail = (thrown: unknown) => {
      counts.failed++;
      console.log(thrown);
    };
    const timer = setInterval(() => {
      current = current.then(work).catch(fail);
    }, seconds * 1000);
    return async () => {
      clearInterval(timer);
      await current;
    };
  };
  const loops = [
    repeat(METRICS_SECONDS, async () => {
      for (const port of metricsPorts) {
        const response = await fetch(`http://127.0.0.1:${port}/metrics`);
        if (!(await response.text()).includes("gesso_")) throw new Error(`no metrics at port ${port}`);
        counts.metrics_read++;
      }
    }),
    repeat(daySeconds / ARCHIVES_PER_DAY, async () => {
      await expireOldRuns(environment, keptSeconds);
      counts.archived += (await archiveHistory(services)).lines;
    }),
    repeat(daySeconds / BACKUPS_PER_DAY, async () => {
      await postgres.backUp(`backups/${++counts.backups}`);
      deleteOldBackups(postgres.directory, counts.backups);
    }),
  ];
  return {
    report: () => ({ ...counts }),
    async stop() {
      for (const stop of loops) await stop();
      await database.close();
    },
  };
}

/** The server's own duties delete the files. */
async function expireOldRuns(environment: TestEnvironment, keptSeconds: number): Promise<void> {
  await environment.query(
    `update expiring_runs set expires_at = now()
     where expires_at > now() and run_id < uuid_floor(now() - make_interval(secs => $1))`,
    [keptSeconds],
  );
  await environment.query(
    `delete from events where run_id < uuid_floor(now() - make_interval(secs => $1))
       and not exists (select from open_runs where open_runs.run_id = events.run_id)`,
    [keptSeconds],
  );
}

/** Keeps the newest backups, and the log that they need. */
function deleteOldBackups(directory: string, newest: number): void {
  const oldest = newest - KEPT_BACKUPS + 1;
  if (oldest < 1) return;
  rmSync(join(directory, "backups", String(oldest - 1)), { recursive: true, force: true });
  const startedAt = statSync(join(directory, "backups", String(oldest))).birthtimeMs;
  const archive = join(directory, "archive");
  mkdirSync(archive, { recursive: true });
  for (const name of readdirSync(archive))
    if (statSync(join(archive, name)).mtimeMs < startedAt) rmSync(join(archive, name));
}

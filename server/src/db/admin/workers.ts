// The workers of the installation, by their own reports. A report returns whether an operator drains the worker.
import type { Database } from "../connect.ts";
import { TIME_COLUMNS, type TimeAnswer } from "../database-time.ts";
import { statement } from "../statement.ts";

/** A worker reports every second. After this time without a report it is gone, or has no database. */
const SILENT_AFTER = "interval '15 seconds'";

export type WorkerState = "serving" | "draining" | "drained";
export type WorkerReport = {
  worker_id: string;
  host: string;
  version: string;
  url: string;
  state: WorkerState;
  runs: number;
};

const REPORT = statement(
  "workers.report",
  `with reported as (
     insert into workers (worker_id, host, version, url, state, runs)
     values (:worker_id, :host, :version, :url, :state, :runs)
     on conflict (worker_id) do update set state = excluded.state, runs = excluded.runs, seen_at = now()
   )
   select exists (select from pauses where kind = 'worker' and name = :worker_id::uuid::text) as is_paused,
     ${TIME_COLUMNS}`,
).columns<ReportAnswer>();

/** `is_paused`: an operator has asked the worker to drain. */
type ReportAnswer = TimeAnswer & { is_paused: boolean };

export async function reportWorker(db: Database, report: WorkerReport): Promise<ReportAnswer> {
  const [row] = await db.execute(REPORT, report);
  return row!;
}

const deleteSql = (condition: string) => `with gone as (delete from workers where ${condition} returning worker_id)
   delete from pauses where kind = 'worker' and name in (select worker_id::text from gone)`;

const DELETE = statement("workers.delete", deleteSql("worker_id = :worker_id"));

export async function deleteWorker(db: Database, workerId: string): Promise<void> {
  await db.execute(DELETE, { worker_id: workerId });
}

// An hour, because all workers are silent while the database is away.
const DELETE_SILENT = statement("workers.delete_silent", deleteSql("seen_at < now() - interval '1 hour'"));

/** Removes workers that were killed, with their pauses. */
export async function deleteSilentWorkers(db: Database): Promise<void> {
  await db.execute(DELETE_SILENT);
}

export const isRunningSql = (workerId: string) =>
  `exists (select from workers where worker_id::text = ${workerId} and seen_at > now() - ${SILENT_AFTER})`;

const LIST = statement(
  "workers.list",
  `select worker_id, host, version, url, state, runs, started_at,
     (select paused_at from pauses where kind = 'worker' and name = worker_id::text) as draining_since
   from workers where seen_at > now() - ${SILENT_AFTER} order by started_at, worker_id`,
).columns<{ state: WorkerState; draining_since: Date | null }>();

export const listWorkers = (db: Database) => db.execute(LIST);

// The traces that runs belong to. Only processes that export traces read them.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type RunTrace = { run_id: string; traceparent: string; created_at: Date };

const LIST = statement(
  "run_traces.list",
  `select run_id, traceparent, created_at from runs
   where run_id = any (:run_ids::uuid[]) and traceparent is not null`,
).columns<{ traceparent: string }>();

/** Of the runs that are traced. */
export async function listRunTraces(db: Database, runIds: string[]): Promise<RunTrace[]> {
  return runIds.length === 0 ? [] : db.execute(LIST, { run_ids: runIds });
}

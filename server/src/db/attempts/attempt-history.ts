// The attempts of a run as its reader sees them.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { AttemptRow } from "./attempts.ts";

export type AttemptHistoryRow = Pick<
  AttemptRow,
  "request_index" | "attempt_number" | "provider" | "upstream" | "state" | "fault"
> & {
  request: JsonObject | null;
  created_at: Date;
  finished_at: Date | null;
};

const LIST = statement(
  "attempts.list",
  `select request_index, attempt_number, provider, upstream, state, fault, request, created_at, finished_at
   from attempts where run_id = :run_id order by created_at, request_index, attempt_number`,
);

export async function listAttempts(db: Database, runId: string): Promise<AttemptHistoryRow[]> {
  return db.execute(LIST, { run_id: runId });
}

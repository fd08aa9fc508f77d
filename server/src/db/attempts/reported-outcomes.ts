// Outcomes that a provider reports only in its callback. They are added to the ticket of the attempt, so that they
// survive the process that received the callback.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { AttemptRef } from "./attempts.ts";

const SAVE = statement(
  "reported_outcomes.save",
  `with reported as (
     update attempts set ticket = ticket || :outcome
     where run_id = :run_id and request_index = :request_index and attempt_number = :attempt_number
       and state = 'submitted' and ticket @> :ticket
     returning ticket
   )
   update open_requests set ticket = reported.ticket
   from reported where run_id = :run_id and request_index = :request_index and attempt_number = :attempt_number`,
);

/**
 * Adds to the ticket what a callback reported. Not fenced by the epoch, because it is a fact about the provider. Does
 * nothing if the attempt has ended, or if the callback is about another job.
 */
export async function saveReportedOutcome(
  db: Database,
  { run_id, request_index, attempt_number }: AttemptRef,
  { ticket, outcome }: { ticket: JsonObject; outcome: JsonObject },
): Promise<void> {
  await db.execute(SAVE, { run_id, request_index, attempt_number, ticket, outcome });
}

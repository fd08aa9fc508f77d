// Tickets of submitted jobs: saved right after the response of the provider, or from a callback that overtook it.
// Neither is fenced by the epoch, because a ticket must never be lost. Tickets that arrive at the same time share a
// statement.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { gather } from "../gather.ts";
import { statement } from "../statement.ts";
import type { AttemptState } from "../typed-columns.ts";
import { type AttemptRef, recordSentSql } from "./attempts.ts";

/** CTE `polled`: copies the ticket of each attempt in the CTE `submitted` to its open request, for the poller. */
const POLLED = `polled as (
     update open_requests set attempt_number = submitted.attempt_number, ticket = submitted.ticket,
       submitted_at = submitted.submitted_at, next_poll_at = now() + make_interval(secs => submitted.poll_seconds),
       -- The first wait and the collection after it, whose step does not renew the claim if a callback woke it.
       claim_expires_at = case when claim_expires_at is not null
         then greatest(claim_expires_at, now() + interval '120 seconds') end
     from submitted
     where open_requests.run_id = any(:run_ids::uuid[]) and open_requests.run_id = submitted.run_id
       and open_requests.request_index = submitted.request_index
       and open_requests.attempt_number <= submitted.attempt_number
   )`;

const SAVE = statement(
  "attempts.save_ticket",
  `with asked as (
     select run_id, request_index, attempt_number, ticket, request, poll_seconds
     from jsonb_to_recordset(:tickets::jsonb) as asked (run_id uuid, request_index smallint,
       attempt_number smallint, ticket jsonb, request jsonb, poll_seconds float)
   ), submitted as (
     update attempts set state = 'submitted', ticket = coalesce(attempts.ticket, asked.ticket),
       submitted_at = coalesce(submitted_at, now()), request = coalesce(asked.request, attempts.request),
       lease_until = null, ${recordSentSql("asked.request", { isProven: true })}
     from asked
     where attempts.run_id = any(:run_ids::uuid[]) and attempts.run_id = asked.run_id
       and attempts.request_index = asked.request_index and attempts.attempt_number = asked.attempt_number
       and state in ('intent', 'unknown', 'submitted')
     returning attempts.run_id, attempts.request_index, attempts.attempt_number, attempts.ticket, submitted_at,
       poll_seconds
   ), ${POLLED}
   select run_id from submitted`,
);

type NewTicket = AttemptRef & { ticket: JsonObject; request?: JsonObject | undefined; poll_seconds: number };

const save = gather<NewTicket, undefined>({
  keyOf: ({ run_id }) => run_id,
  async execute(db, tickets) {
    await db.execute(SAVE, { run_ids: tickets.map(({ run_id }) => run_id), tickets: JSON.stringify(tickets) });
    return tickets.map(() => undefined);
  },
});

/** Records that the provider accepted the request. */
export async function saveTicket(
  db: Database,
  { run_id, request_index, attempt_number }: AttemptRef,
  { ticket, request }: { ticket: JsonObject; request?: JsonObject | undefined },
  pollSeconds: number,
): Promise<void> {
  await save(db, { run_id, request_index, attempt_number, ticket, request, poll_seconds: pollSeconds });
}

const REPLACE = statement(
  "attempts.replace_ticket",
  `with submitted as (
     update attempts set ticket = :found, submitted_at = now()
     where run_id = :run_id and request_index = :request_index and attempt_number = :attempt_number
       and state = 'submitted' and ticket = :lost
     returning run_id, request_index, attempt_number, ticket, submitted_at
   ), polled as (
     update open_requests set ticket = submitted.ticket, submitted_at = submitted.submitted_at, next_poll_at = now()
     from submitted
     where open_requests.run_id = :run_id and open_requests.request_index = :request_index
       and open_requests.attempt_number = :attempt_number
   )
   select run_id from submitted`,
);

/** Puts the ticket of another job of the same attempt in the place of a job that the provider has lost. */
export async function replaceTicket(
  db: Database,
  { run_id, request_index, attempt_number }: AttemptRef,
  { lost, found }: { lost: JsonObject; found: JsonObject },
): Promise<boolean> {
  return (await db.execute(REPLACE, { run_id, request_index, attempt_number, lost, found })).length > 0;
}

const RECEIVE = statement(
  "attempts.receive_callback",
  `with asked as (
     select run_id, request_index, attempt_number, provider, ticket, poll_seconds
     from jsonb_to_recordset(:callbacks::jsonb) as asked (run_id uuid, request_index smallint,
       attempt_number smallint, provider text, ticket jsonb, poll_seconds float)
   ), submitted as (
     update attempts set state = 'submitted', ticket = coalesce(attempts.ticket, asked.ticket),
       submitted_at = coalesce(submitted_at, now()), lease_until = null,
       ${recordSentSql("null", { isProven: true })}
     from asked
     where attempts.run_id = any(:run_ids::uuid[]) and attempts.run_id = asked.run_id
       and attempts.request_index = asked.request_index and attempts.attempt_number = asked.attempt_number
       and attempts.provider = asked.provider and state in ('intent', 'unknown')
     returning attempts.run_id, attempts.request_index, attempts.attempt_number, attempts.ticket, submitted_at,
       poll_seconds
   ), ${POLLED}
   select attempts.run_id, attempts.provider, attempts.state, open_requests.wakeup_id,
     submitted.run_id is not null as is_saved
   from asked
   join attempts on attempts.run_id = any(:run_ids::uuid[]) and attempts.run_id = asked.run_id
     and attempts.request_index = asked.request_index and attempts.attempt_number = asked.attempt_number
   left join open_requests on open_requests.run_id = any(:run_ids::uuid[]) and open_requests.run_id = asked.run_id
     and open_requests.request_index = asked.request_index
   left join submitted on submitted.run_id = asked.run_id`,
).columns<ReceivedCallback>();

/** `is_saved`: the callback brought the ticket. `wakeup_id`: where to wake the run if it still waits for the job. */
type ReceivedCallback = { provider: string; state: AttemptState; wakeup_id: string | null; is_saved: boolean };
type JobCallback = AttemptRef & { provider: string; ticket: JsonObject; poll_seconds: number };

const receive = gather<JobCallback, ReceivedCallback | undefined>({
  keyOf: ({ run_id }) => run_id,
  async execute(db, callbacks) {
    const run_ids = callbacks.map(({ run_id }) => run_id);
    const rows = await db.execute(RECEIVE, { run_ids, callbacks: JSON.stringify(callbacks) });
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return run_ids.map((run_id) => byRun.get(run_id));
  },
});

/**
 * Finds the attempt that a callback names, and saves the ticket of the callback if the attempt has none: the callback
 * may arrive before the response to the submission, or be the only trace of the job. Undefined if there is no such
 * attempt.
 */
export const receiveCallback = (
  db: Database,
  { run_id, request_index, attempt_number, provider }: AttemptRef & { provider: string },
  ticket: JsonObject,
  pollSeconds: number,
): Promise<ReceivedCallback | undefined> =>
  receive(db, { run_id, request_index, attempt_number, provider, ticket, poll_seconds: pollSeconds });

const SAVE_OUTCOME = statement(
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
 * Adds to the ticket an outcome that the provider reports only in its callback, so that it survives the process that
 * received the callback. Not fenced by the epoch, because it is a fact about the provider. Does nothing if the attempt
 * has ended, or if the callback is about another job.
 */
export async function saveReportedOutcome(
  db: Database,
  { run_id, request_index, attempt_number }: AttemptRef,
  { ticket, outcome }: { ticket: JsonObject; outcome: JsonObject },
): Promise<void> {
  await db.execute(SAVE_OUTCOME, { run_id, request_index, attempt_number, ticket, outcome });
}

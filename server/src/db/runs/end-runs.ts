// Ends runs: one statement deletes the open run, stores what the run became, inserts its event and settles it. With the
// output of its only request, the statement saves that too. Runs that end at the same time share a statement.

import type { PublicFault } from "../../faults/faults.ts";
import { type AttemptRef, END_LEASE, type RequestOutput, recordSentSql } from "../attempts/attempts.ts";
import type { Database } from "../connect.ts";
import { insertFilesSql } from "../files/insert-files.ts";
import { gather } from "../gather.ts";
import type { RunClaim } from "../run-claims.ts";
import { statement } from "../statement.ts";
import type { StoredRunResult } from "../typed-columns.ts";
import { END_COLUMNS, endDeletedRunsSql } from "./end-sql.ts";

/** `cost` in micro-dollars by the prices at acceptance; null if unknown. */
export type CompletedRun = {
  status: "completed";
  result: StoredRunResult;
  provider: string;
  cost: number | null;
  warnings: string[];
};
export type RunEnd = CompletedRun | { status: "failed" | "canceled"; error: PublicFault };

/** Deleting the open run deletes its requests, which frees their provider slots. */
const END = statement(
  "open_runs.end",
  `with asked as (
     select run_id, epoch, files, request, ${END_COLUMNS.join(", ")}
     from jsonb_to_recordset(:ends::jsonb) as asked (run_id uuid, epoch int, request_index smallint,
       attempt_number smallint, files jsonb, request jsonb, status text, result jsonb, error jsonb, cost bigint,
       provider text, warnings jsonb, event_id uuid, canceled_at timestamptz)
   ), deleted as (
     delete from open_runs using asked
     where open_runs.run_id = any(:run_ids::uuid[]) and open_runs.run_id = asked.run_id
       and (asked.epoch is null or open_runs.epoch = asked.epoch)
     returning open_runs.run_id, tenant_id, reserved, reserved_from, budget_holders, asked.epoch, files, request,
       ${END_COLUMNS.join(", ")}
   ), inserted as (
     ${insertFilesSql("deleted", "deleted.files")}
     on conflict do nothing
   ), succeeded as (
     update attempts set state = 'succeeded', finished_at = now(), ${END_LEASE},
       request = coalesce(deleted.request, attempts.request), ${recordSentSql("deleted.request", { isProven: true })}
     from deleted
     where attempts.run_id = any(:run_ids::uuid[]) and attempts.run_id = deleted.run_id
       and attempts.request_index = deleted.request_index and attempts.attempt_number = deleted.attempt_number
       and state in ('intent', 'unknown', 'submitted')
   ), requests as (
     -- Read under their locks, so that a ticket that is being saved is waited for and seen.
     select run_id, request_index, attempt_number, provider, ticket from open_requests
     where run_id in (select run_id from deleted where epoch is null) for update
   ), jobs_to_cancel as (
     insert into outbox (outbox_id, kind, payload)
     select gen_random_uuid(), 'cancel_job', jsonb_build_object('run_id', run_id, 'request_index', request_index,
       'attempt_number', attempt_number, 'provider', provider, 'ticket', ticket)
     from requests where ticket is not null
   ), ${endDeletedRunsSql({ isAsked: "runs.run_id = any(:run_ids::uuid[])" })}
   select run_id, released from released`,
);

/** `epoch`: of the invocation that ends the run. `output`: what its only request has made, if it was not saved yet. */
type Ending = {
  run: { run_id: string; epoch?: number };
  end: RunEnd;
  eventId: string;
  output?: RequestOutput & { attempt: AttemptRef };
};

const endGathered = gather<Ending, boolean>({
  keyOf: ({ run }) => run.run_id,
  /** The end of an invocation does not wait for the locks that an end from outside takes. */
  groupOf: ({ run }) => (run.epoch === undefined ? "outside" : "invocation"),
  async execute(db, endings) {
    const rows = await db.execute(END, {
      run_ids: endings.map(({ run }) => run.run_id),
      ends: JSON.stringify(endings.map(toRecord)),
    });
    const ended = new Set(rows.map(({ run_id }) => run_id));
    return endings.map(({ run }) => ended.has(run.run_id));
  },
});

/** What a column does not have is null. */
const toRecord = ({ run, end, eventId, output }: Ending) => ({
  run_id: run.run_id,
  epoch: run.epoch,
  event_id: eventId,
  ...end,
  warnings: end.status === "completed" ? end.warnings : [],
  ...(output && {
    request_index: output.attempt.request_index,
    attempt_number: output.attempt.attempt_number,
    files: [...output.files, ...(output.thumbnailFiles ?? [])],
    request: output.request,
  }),
});

/**
 * Ends a run once: only the statement that deletes the open_runs row may. It settles the reservation. An invocation
 * passes its epoch and has canceled its jobs itself. Without an epoch, the run is ended from outside, and the same
 * statement inserts the jobs that its providers may still be working on into the outbox, which cancels them.
 */
export const endRun = (
  db: Database,
  { run_id, epoch }: { run_id: string; epoch?: number },
  end: RunEnd,
  eventId: string,
): Promise<boolean> => endGathered(db, { run: { run_id, ...(epoch !== undefined && { epoch }) }, end, eventId });

type Completion = {
  claim: RunClaim;
  attempt: AttemptRef;
  output: RequestOutput;
  end: CompletedRun;
  eventId: string;
};

/** Completes a run of one request, and saves its output. False if the claim is lost; then nothing is changed. */
export const saveOutputAndComplete = (
  db: Database,
  { claim, attempt, output, end, eventId }: Completion,
): Promise<boolean> => endGathered(db, { run: claim, end, eventId, output: { ...output, attempt } });

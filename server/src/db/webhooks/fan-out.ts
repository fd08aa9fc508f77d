// Creates webhook deliveries from the event log. The cursor advances in the statement that inserts the deliveries,
// and only from the position that was read: a slower process changes nothing.
import type { Database } from "../connect.ts";
import type { LogPosition } from "../event-log.ts";
import { statement } from "../statement.ts";
import { deliveriesParameters, insertDeliveriesSql, type NewDelivery } from "./deliveries.ts";

const READ_CURSOR = statement("fan_out.read_cursor", "select xact, seq from webhook_cursor");

export async function readFanOutCursor(db: Database): Promise<LogPosition> {
  const [row] = await db.execute(READ_CURSOR);
  return row!;
}

export type FanOutBatch = {
  from: LogPosition;
  to: LogPosition;
  deliveries: NewDelivery[];
  /** Runs with a progress event in this batch, and its time. */
  progressSent: { run_id: string; sent_at: Date }[];
  /** Runs that have ended. */
  ended: string[];
  givesUpSeconds: number;
};

const COMMIT = statement(
  "fan_out.commit",
  `with advanced as (
     update webhook_cursor set xact = :to_xact, seq = :to_seq where xact = :from_xact and seq = :from_seq returning id
   ), ${insertDeliveriesSql({ when: "exists (select from advanced)" })}, progress as (
     insert into webhook_progress_sent (run_id, sent_at)
     select run_id, sent_at from jsonb_to_recordset(:progress_sent::jsonb) as given (run_id uuid, sent_at timestamptz)
     where exists (select from advanced)
     on conflict (run_id) do update set sent_at = excluded.sent_at
   ), deleted as (
     delete from webhook_progress_sent
     where run_id = any(:ended_run_ids::uuid[]) and exists (select from advanced)
   )
   select exists (select from advanced) as is_advanced, (select count(*) from inserted)::int as inserted`,
).columns<{ is_advanced: boolean; inserted: number }>();

/** Returns the number of new deliveries, or undefined if another process has advanced the cursor. */
export async function commitFanOut(db: Database, { from, to, ...batch }: FanOutBatch): Promise<number | undefined> {
  const [row] = await db.execute(COMMIT, {
    from_xact: from.xact,
    from_seq: from.seq,
    to_xact: to.xact,
    to_seq: to.seq,
    ...deliveriesParameters(batch.deliveries, batch.givesUpSeconds),
    progress_sent: JSON.stringify(batch.progressSent),
    ended_run_ids: batch.ended,
  });
  return row!.is_advanced ? row!.inserted : undefined;
}

const LIST_PROGRESS_TIMES = statement(
  "fan_out.list_progress_times",
  "select run_id, sent_at from webhook_progress_sent where run_id = any(:run_ids::uuid[])",
);

export async function listProgressTimes(db: Database, runIds: string[]): Promise<Map<string, Date>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.execute(LIST_PROGRESS_TIMES, { run_ids: runIds });
  return new Map(rows.map((row) => [row.run_id, row.sent_at]));
}

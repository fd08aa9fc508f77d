// From the log of events to the messages of webhooks. How far the log was read moves in the statement that makes the
// messages, from where it was found: whoever is late changes nothing.
import type { Database } from "../connect.ts";
import type { LogPosition } from "../event-log.ts";
import type { RunRow } from "../runs/runs.ts";
import { insertDeliveriesSql, type NewDelivery } from "./deliveries.ts";

export async function readFanOutCursor(db: Database): Promise<LogPosition> {
  const [row] = await db.query<LogPosition>("fanOut.cursor", "select xact, seq from webhook_cursor");
  return row!;
}

export type FanOutBatch = {
  from: LogPosition;
  to: LogPosition;
  deliveries: NewDelivery[];
  /** Runs whose progress is told, with the moment of it. */
  told: { run_id: string; told_at: Date }[];
  /** Runs of which nothing more is told. */
  ended: string[];
  givesUpSeconds: number;
};

/** Undefined: somebody else was faster. Otherwise how many messages there are to send. */
export async function commitFanOut(db: Database, { from, to, ...made }: FanOutBatch): Promise<number | undefined> {
  const [row] = await db.query<{ moved: boolean; fresh: number }>(
    "fanOut.write",
    `with moved as (
       update webhook_cursor set xact = $3, seq = $4 where xact = $1 and seq = $2 returning id
     ), ${insertDeliveriesSql(5, "exists (select from moved)")}, progress as (
       insert into webhook_progress (run_id, told_at)
       select run_id, told_at from jsonb_to_recordset($7::jsonb) as given (run_id uuid, told_at timestamptz)
       where exists (select from moved)
       on conflict (run_id) do update set told_at = excluded.told_at
     ), forgotten as (
       delete from webhook_progress where run_id = any($8::uuid[]) and exists (select from moved)
     )
     select exists (select from moved) as moved, (select count(*) from fresh)::int as fresh`,
    [
      ...[from.xact, from.seq, to.xact, to.seq, JSON.stringify(made.deliveries), made.givesUpSeconds],
      ...[JSON.stringify(made.told), made.ended],
    ],
  );
  return row!.moved ? row!.fresh : undefined;
}

/** Of these runs those that somebody may have to be told of: their own address, or a webhook of one of these tenants. */
export async function listRunsWithWebhooks(db: Database, runIds: string[], tenantIds: string[]): Promise<RunRow[]> {
  return db.query<RunRow>(
    "fanOut.runs",
    `select * from runs where run_id = any($1::uuid[]) and (webhook_url is not null or tenant_id = any($2::uuid[]))
       and deleted_at is null`,
    [runIds, tenantIds],
  );
}

export async function listProgressTimes(db: Database, runIds: string[]): Promise<Map<string, Date>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.query<{ run_id: string; told_at: Date }>(
    "fanOut.told",
    "select run_id, told_at from webhook_progress where run_id = any($1::uuid[])",
    [runIds],
  );
  return new Map(rows.map((row) => [row.run_id, row.told_at]));
}

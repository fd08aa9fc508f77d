// Ranges of the log that somebody wants to be sent again, each read in order and remembered by how far it has come.
import type { Database } from "../connect.ts";
import type { EventRow, LogPosition } from "../event-log.ts";

export type ReplayRow = LogPosition & {
  replay_id: string;
  tenant_id: string;
  webhook_id: string;
  from_at: Date;
  to_at: Date;
  only_failed: boolean;
  events: number;
  created_at: Date;
  finished_at: Date | null;
};

export type NewReplay = Pick<ReplayRow, "replay_id" | "tenant_id" | "webhook_id" | "from_at" | "to_at" | "only_failed">;

export async function insertReplay(db: Database, replay: NewReplay): Promise<ReplayRow> {
  const [row] = await db.query<ReplayRow>(
    "replays.add",
    `insert into webhook_replays (replay_id, tenant_id, webhook_id, from_at, to_at, only_failed)
     values ($1, $2, $3, $4, $5, $6) returning *`,
    [replay.replay_id, replay.tenant_id, replay.webhook_id, replay.from_at, replay.to_at, replay.only_failed],
  );
  return row!;
}

export async function listOpenReplays(db: Database, limit: number): Promise<ReplayRow[]> {
  return db.query<ReplayRow>(
    "replays.open",
    "select * from webhook_replays where finished_at is null order by replay_id limit $1",
    [limit],
  );
}

/** The longest that a run lives: its events lie in its own day, and so at most this far before the range. */
const LONGEST_RUN = "2 days";

/** The next events of these types in the range of the replay, in log order. */
export async function listEventsToReplay(
  db: Database,
  replay: ReplayRow,
  types: string[],
  limit: number,
): Promise<EventRow[]> {
  return db.query<EventRow>(
    "replays.events",
    `select * from events
     where tenant_id = $1 and (xact, seq) > ($2, $3) and xact < (select event_horizon())
       and run_id >= uuid_floor($4::timestamptz - interval '${LONGEST_RUN}') and run_id <= uuid_floor($5::timestamptz + interval '1 ms')
       and created_at >= $4 and created_at < $5 and type = any($6::text[])
     order by xact, seq limit $7`,
    [replay.tenant_id, replay.xact, replay.seq, replay.from_at, replay.to_at, types, limit],
  );
}

export async function advanceReplay(
  db: Database,
  replayId: string,
  to: LogPosition & { events: number; isDone: boolean },
): Promise<void> {
  await db.query(
    "replays.move",
    `update webhook_replays set xact = $2, seq = $3, events = events + $4, finished_at = case when $5 then now() end
     where replay_id = $1`,
    [replayId, to.xact, to.seq, to.events, to.isDone],
  );
}

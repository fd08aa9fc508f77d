// Ranges of the event log to send again to one endpoint, each read in order with its position stored.
import type { Database } from "../connect.ts";
import { EVENT_COLUMNS, type EventRow, type LogPosition } from "../event-log.ts";
import { statement } from "../statement.ts";

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

const REPLAY_COLUMNS = `replay_id, tenant_id, webhook_id, from_at, to_at, only_failed, xact, seq, events, created_at,
  finished_at`;

const INSERT = statement(
  "replays.insert",
  `insert into webhook_replays (replay_id, tenant_id, webhook_id, from_at, to_at, only_failed)
   values (:replay_id, :tenant_id, :webhook_id, :from_at, :to_at, :only_failed) returning ${REPLAY_COLUMNS}`,
);

export async function insertReplay(
  db: Database,
  { replay_id, tenant_id, webhook_id, from_at, to_at, only_failed }: NewReplay,
): Promise<ReplayRow> {
  const [row] = await db.execute(INSERT, { replay_id, tenant_id, webhook_id, from_at, to_at, only_failed });
  return row!;
}

const LIST_OPEN = statement(
  "replays.list_open",
  `select ${REPLAY_COLUMNS} from webhook_replays where finished_at is null order by replay_id limit :limit`,
);

export async function listOpenReplays(db: Database, limit: number): Promise<ReplayRow[]> {
  return db.execute(LIST_OPEN, { limit });
}

/** Longer than any transaction, which is how far positions in the log can differ from times. */
const LOG_MARGIN = "10 minutes";

const LIST_EVENTS = statement(
  "replays.list_events",
  `select ${EVENT_COLUMNS} from events
   where tenant_id = :tenant_id and (xact, seq) > (:xact, :seq) and xact < (select event_log_horizon())
     and xact >= (select event_xact_at(:from_at::timestamptz - interval '${LOG_MARGIN}'))
     and xact <= (select event_xact_at(:to_at::timestamptz + interval '${LOG_MARGIN}'))
     and created_at >= :from_at and created_at < :to_at and type = any(:types::text[])
   order by xact, seq limit :limit`,
);

/** The next events of these types in the range of the replay, in log order. */
export async function listEventsToReplay(
  db: Database,
  { tenant_id, xact, seq, from_at, to_at }: ReplayRow,
  types: string[],
  limit: number,
): Promise<EventRow[]> {
  return db.execute(LIST_EVENTS, { tenant_id, xact, seq, from_at, to_at, types, limit });
}

const ADVANCE = statement(
  "replays.advance",
  `update webhook_replays set xact = :xact, seq = :seq, events = events + :events,
     finished_at = case when :is_done then now() end
   where replay_id = :replay_id`,
);

export async function advanceReplay(
  db: Database,
  replayId: string,
  { xact, seq, events, isDone }: LogPosition & { events: number; isDone: boolean },
): Promise<void> {
  await db.execute(ADVANCE, { replay_id: replayId, xact, seq, events, is_done: isDone });
}

// The runs of events, for streams and webhooks: only the columns that events and their messages contain.
import type { Database } from "../connect.ts";
import type { EventRow } from "../event-log.ts";
import { statement } from "../statement.ts";
import type { RunRow } from "./runs.ts";

export const EVENT_RUN_COLUMNS = [
  ...([
    "run_id",
    "end_user",
    "customer",
    "run_type",
    "parent_run_id",
    "progress",
    "result",
    "error",
    "warnings",
    "metadata",
  ] as const),
  ...(["created_at", "expires_at"] as const),
];
/** The columns of a run that its events contain; the others are large or not public. */
export type EventRunRow = Pick<RunRow, (typeof EVENT_RUN_COLUMNS)[number]>;

const FIND_RUNS = statement(
  "events.find_runs",
  `select ${EVENT_RUN_COLUMNS.join(", ")} from runs where run_id = any(:run_ids::uuid[])`,
);

/** The runs of these events, of any tenant. */
export async function findRunsOfEvents(db: Database, events: readonly EventRow[]): Promise<Map<string, EventRunRow>> {
  const runIds = [...new Set(events.map(({ run_id }) => run_id))];
  if (runIds.length === 0) return new Map();
  const rows = await db.execute(FIND_RUNS, { run_ids: runIds });
  return new Map(rows.map((row) => [row.run_id, row]));
}

/** The columns of a run that its messages need; the others are large. */
export type WebhookRunRow = EventRunRow & Pick<RunRow, "webhook_url">;

const LIST_RUNS = statement(
  "fan_out.list_runs",
  `select ${EVENT_RUN_COLUMNS.join(", ")}, webhook_url from runs where run_id = any(:run_ids::uuid[])
     and (webhook_url is not null or tenant_id = any(:tenant_ids::uuid[])) and deleted_at is null`,
);

/** Those of these runs that have a webhook_url or belong to one of these tenants, which have endpoints. */
export async function listRunsWithWebhooks(
  db: Database,
  runIds: string[],
  tenantIds: string[],
): Promise<WebhookRunRow[]> {
  return db.execute(LIST_RUNS, { run_ids: runIds, tenant_ids: tenantIds });
}

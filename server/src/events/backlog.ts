// What there is to tell of the past: of a run everything, of a tenant how its open runs stand, or what the caller missed.
import {
  type EventRow,
  isPositionAfter,
  type LogPosition,
  listLatestEventsOfOpenRuns,
  listRunEvents,
  listTenantEvents,
  readLogHead,
} from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import type { EventFilter } from "../kit/schemas/events.ts";
import { buildEndEvent } from "../runs/render-event.ts";
import { isRunOpen } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";
import type { RenderedEvent } from "./log-tail.ts";

/** `run` is given where the stream is of that run and ends with it; `house` sees the caller's tenant only. */
export type EventQuery = {
  house: Services;
  tenant_id: string;
  run?: RunRow;
  filter: EventFilter;
  after: LogPosition | undefined;
};

const PAGE_SIZE = 200;
/** The open runs that a new stream of all events begins with, the newest of them. */
const MAX_SNAPSHOT_RUNS = 500;

export const matchesFilter = ({ types, run_type }: EventFilter, { row, run }: RenderedEvent): boolean =>
  (types === undefined || types.includes(row.type)) && (run_type === undefined || run_type === run?.run_type);

/** A database that was set back knows less than the caller was once told: then it goes on from where the log ends. */
export async function clampToLogHead(
  { house: services, after }: EventQuery,
  from: LogPosition,
): Promise<LogPosition | undefined> {
  if (!after || !isPositionAfter(after, from)) return after;
  const head = await readLogHead(services.db);
  return isPositionAfter(after, head) ? head : after;
}

/** What there is to tell before the tail takes over. Undefined: the caller knows how the run has ended. */
export async function readBacklog(wish: EventQuery, from: LogPosition): Promise<AsyncIterable<EventRow[]> | undefined> {
  const { house, tenant_id, run, after } = wish;
  if (!run) return readBacklogPages(wish, from);
  const events = await listRunEvents(house.db, tenant_id, run.run_id);
  const end = events.find(({ terminal }) => terminal);
  if (after && (end ? !isPositionAfter(end, after) : !isRunOpen(run))) return undefined;
  return onePage(end || isRunOpen(run) ? filterFinalAfter(events, after) : [buildEndEvent(run)]);
}

const filterFinalAfter = (events: (EventRow & { is_final: boolean })[], after: LogPosition | undefined): EventRow[] =>
  events.filter((event) => event.is_final && (!after || isPositionAfter(event, after)));

async function* onePage(rows: EventRow[]): AsyncIterable<EventRow[]> {
  yield rows;
}

/** A caller who knows nothing yet is shown how the open runs stand; one who comes back, everything since then. */
async function* readBacklogPages(
  { house: services, tenant_id, filter, after }: EventQuery,
  from: LogPosition,
): AsyncIterable<EventRow[]> {
  if (filter.run_id) return yield filterFinalAfter(await listRunEvents(services.db, tenant_id, filter.run_id), after);
  if (!after) yield await listLatestEventsOfOpenRuns(services.db, tenant_id, { ...from, limit: MAX_SNAPSHOT_RUNS });
  for (let position = after ?? from; ; ) {
    const rows = await listTenantEvents(services.db, tenant_id, { ...position, limit: PAGE_SIZE });
    yield rows;
    if (rows.length < PAGE_SIZE) return;
    position = rows.at(-1)!;
  }
}

// The events that a new reader gets before live events: all events of a run, the latest event of each open run of a
// tenant, or everything after the position where the reader left off.

import type { EventFilter } from "../contract/schemas/events.ts";
import {
  type EventRow,
  isPositionAfter,
  isPositionLost,
  type LogPosition,
  listLatestEventsOfOpenRuns,
  listRunEvents,
  listTenantEvents,
} from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { Fault } from "../faults/faults.ts";
import { buildEndEvent } from "../runs/show/render-event.ts";
import { isRunOpen } from "../runs/show/render-run.ts";
import type { EventServices, RenderedEvent } from "./log-tail.ts";

/** `run` is set if the stream is of one run and ends with it. `services.database` is scoped to the caller. */
export type EventQuery = {
  services: EventServices;
  tenant_id: string;
  run?: RunRow;
  filter: EventFilter;
  after: LogPosition | undefined;
};

const PAGE_SIZE = 200;
/** A new stream of all events begins with the latest event of at most this many open runs, the newest. */
const MAX_SNAPSHOT_RUNS = 500;

/** An end user receives only events of its own runs: none of another one, and none that belong to no run. */
export const isEventFor = (
  { services, filter: { types, run_type } }: Pick<EventQuery, "services" | "filter">,
  { row, run }: RenderedEvent,
): boolean =>
  (services.database.endUser === undefined || services.database.endUser === run?.end_user) &&
  (types === undefined || types.includes(row.type)) &&
  (run_type === undefined || run_type === run?.run_type);

/** A reader whose last event was lost when the database was restored must start over: it has read what never was. */
export async function requireKnownPosition({ services, after }: EventQuery): Promise<void> {
  if (after && (await isPositionLost(services.database, after))) throw new Fault("event_position_lost");
}

/** Returns undefined if the reader has already received the end of the run. */
export async function readBacklog(
  query: EventQuery,
  from: LogPosition,
): Promise<AsyncIterable<EventRow[]> | undefined> {
  const { services, tenant_id, run, after } = query;
  if (!run) return readBacklogPages(query, from);
  const events = await listRunEvents(services.database, tenant_id, run.run_id);
  const end = events.find(({ terminal }) => terminal);
  if (after && (end ? !isPositionAfter(end, after) : !isRunOpen(run))) return undefined;
  return singlePage(end || isRunOpen(run) ? filterFinalAfter(events, after) : [buildEndEvent(run)]);
}

const filterFinalAfter = (events: (EventRow & { is_final: boolean })[], after: LogPosition | undefined): EventRow[] =>
  events.filter((event) => event.is_final && (!after || isPositionAfter(event, after)));

async function* singlePage(rows: EventRow[]): AsyncIterable<EventRow[]> {
  yield rows;
}

/** A new reader gets the latest event of each open run; a returning reader gets all events since its position. */
async function* readBacklogPages(
  { services, tenant_id, filter, after }: EventQuery,
  from: LogPosition,
): AsyncIterable<EventRow[]> {
  if (filter.run_id)
    return yield filterFinalAfter(await listRunEvents(services.database, tenant_id, filter.run_id), after);
  if (!after)
    yield await listLatestEventsOfOpenRuns(services.database, tenant_id, { ...from, limit: MAX_SNAPSHOT_RUNS });
  for (let position = after ?? from; ; ) {
    const rows = await listTenantEvents(services.database, tenant_id, { ...position, limit: PAGE_SIZE });
    yield rows;
    if (rows.length < PAGE_SIZE) return;
    position = rows.at(-1)!;
  }
}

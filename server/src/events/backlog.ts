// The events that a new reader gets before live events: all events of a run, the latest event of each open run of a
// tenant, or everything after the position where the reader left off.
import type { EventFilter, EventPage } from "../contract/schemas/events.ts";
import {
  type EventRow,
  formatPosition,
  isPositionAfter,
  isPositionLost,
  type LogPosition,
  listLatestEventsOfOpenRuns,
  listRunEvents,
  listTenantEvents,
  readLogHead,
} from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { Fault } from "../faults/faults.ts";
import { buildEndEvent } from "../runs/show/render-event.ts";
import { isRunOpen } from "../runs/show/render-run.ts";
import { type EventServices, type RenderedEvent, renderEvents } from "./log-tail.ts";
import { eventFrame } from "./sse-frames.ts";

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

/** One page of the event log as JSON, for clients that poll instead of holding a stream open. */
export async function readEventPage(query: EventQuery): Promise<EventPage> {
  await requireKnownPosition(query);
  const head = await readLogHead(query.services.database);
  const { events, last } = await firstMatchingPage(query, await readBacklog(query, head));
  // After a snapshot of open runs the reader continues from now, not from the last event in the snapshot.
  const isSnapshot = !query.after && !query.run && !query.filter.run_id;
  const lastPosition = isSnapshot && !(last && isPositionAfter(last, head)) ? head : last;
  return {
    data: events.map(({ row, event }) => ({ id: formatPosition(row), ...event })),
    last_id: lastPosition ? formatPosition(lastPosition) : null,
  };
}

/** Skips pages without a matching event, because an empty response means the end of the log. */
async function firstMatchingPage(
  query: EventQuery,
  pages: AsyncIterable<EventRow[]> | undefined,
): Promise<{ events: RenderedEvent[]; last: LogPosition | undefined }> {
  let last = query.after;
  for await (const rows of pages ?? []) {
    last = rows.at(-1) ?? last;
    const events = (await renderEvents(query.services, rows, eventFrame)).filter((each) => isEventFor(query, each));
    if (events.length > 0) return { events, last };
  }
  return { events: [], last };
}

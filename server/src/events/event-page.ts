// One page of the event log as JSON, for clients that poll instead of holding a stream open.

import type { EventPage } from "../contract/schemas/events.ts";
import { type EventRow, formatPosition, isPositionAfter, type LogPosition, readLogHead } from "../db/event-log.ts";
import { type EventQuery, isEventFor, readBacklog, requireKnownPosition } from "./backlog.ts";
import { type RenderedEvent, renderEvents } from "./log-tail.ts";
import { eventFrame } from "./sse-frames.ts";

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

// The log for those who do not stay on the line: what there is now, in one answer, and from where to ask on.
import { type EventRow, formatPosition, isPositionAfter, type LogPosition, readLogHead } from "../db/event-log.ts";
import type { EventPage } from "../kit/schemas/events.ts";
import { clampToLogHead, type EventQuery, matchesFilter, readBacklog } from "./backlog.ts";
import { type RenderedEvent, renderEvents } from "./log-tail.ts";
import { eventFrame } from "./sse-frames.ts";

export async function readEventPage(query: EventQuery): Promise<EventPage> {
  const head = await readLogHead(query.house.db);
  const wish = { ...query, after: await clampToLogHead(query, head) };
  const { told: events, last } = await firstMatchingPage(wish, await readBacklog(wish, head));
  // Who was shown how the open runs stand goes on from this moment, and not from the last change of one of them.
  const isSnapshot = !wish.after && !wish.run && !wish.filter.run_id;
  const lastPosition = isSnapshot && !(last && isPositionAfter(last, head)) ? head : last;
  return {
    data: events.map(({ row, event }) => ({ id: formatPosition(row), ...event })),
    last_id: lastPosition ? formatPosition(lastPosition) : null,
  };
}

/** A page in which nothing is wanted is passed over: an empty answer means that there is no more. */
async function firstMatchingPage(
  wish: EventQuery,
  pages: AsyncIterable<EventRow[]> | undefined,
): Promise<{ told: RenderedEvent[]; last: LogPosition | undefined }> {
  let last = wish.after;
  for await (const rows of pages ?? []) {
    last = rows.at(-1) ?? last;
    const events = (await renderEvents(wish.house, rows, eventFrame)).filter((each) =>
      matchesFilter(wish.filter, each),
    );
    if (events.length > 0) return { told: events, last };
  }
  return { told: [], last };
}

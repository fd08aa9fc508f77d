// What goes over the line of a stream: server-sent events, as browsers read them.
import { type EventRow, formatPosition, type LogPosition, parsePosition } from "../db/event-log.ts";
import { Fault } from "../faults.ts";
import type { Event } from "../kit/schemas/events.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** The line is open; whoever loses it should come back after a second. */
export const retryFrame = encode("retry: 1000\n\n");

export const eventFrame = (row: EventRow, event: Event): Uint8Array =>
  encode(`id: ${formatPosition(row)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** The place that a reader says it has come to, in the words that it was given. */
export function parseEventId(id: string): LogPosition {
  const position = parsePosition(id);
  if (!position) throw new Fault("invalid_cursor");
  return position;
}

/** Nothing has happened; but whoever comes back need not be told anything from before this place. */
export const heartbeatFrame = (position: LogPosition | undefined): Uint8Array =>
  encode(position ? `id: ${formatPosition(position)}\n: still here\n\n` : ": still here\n\n");

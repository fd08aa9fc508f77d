// What goes over the line of a stream: server-sent events, as browsers read them.
import { type EventRow, type Position, printPosition, readPosition } from "../db/events.ts";
import { Fault } from "../faults.ts";
import type { Event } from "../kit/shapes-events.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** The line is open; whoever loses it should come back after a second. */
export const opening = encode("retry: 1000\n\n");

export const eventFrame = (row: EventRow, event: Event): Uint8Array =>
  encode(`id: ${printPosition(row)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** The place that a reader says it has come to, in the words that it was given. */
export function readId(id: string): Position {
  const position = readPosition(id);
  if (!position) throw new Fault("invalid_cursor");
  return position;
}

/** Nothing has happened; but whoever comes back need not be told anything from before this place. */
export const heartbeat = (position: Position | undefined): Uint8Array =>
  encode(position ? `id: ${printPosition(position)}\n: still here\n\n` : ": still here\n\n");

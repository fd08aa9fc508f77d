// Frames of an event stream in the server-sent events format.

import type { Event } from "../contract/schemas/events.ts";
import { type EventRow, formatPosition, type LogPosition, parsePosition } from "../db/event-log.ts";
import { Fault } from "../faults/faults.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** First frame: a client that loses the connection reconnects after one second. */
export const retryFrame = encode("retry: 1000\n\n");

export const eventFrame = (row: EventRow, event: Event): Uint8Array =>
  encode(`id: ${formatPosition(row)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** Parses an event id that a client sends back. */
export function parseEventId(id: string): LogPosition {
  const position = parsePosition(id);
  if (!position) throw new Fault("invalid_cursor");
  return position;
}

/** Keeps the connection alive. The position lets a reconnecting client skip events that its filter excludes. */
export const heartbeatFrame = (position: LogPosition | undefined): Uint8Array =>
  encode(position ? `id: ${formatPosition(position)}\n: still here\n\n` : ": still here\n\n");

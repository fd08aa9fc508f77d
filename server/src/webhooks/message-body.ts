// The body of a message: what has happened and the run in short, in at most 20 kB. It is printed once and kept as it is.

import type { Event } from "../kit/schemas/events.ts";
import type { JsonObject } from "../kit/schemas/run.ts";

const MOST_BYTES = 20_000;
const MAX_LIST_ITEMS = 10;

/** What can be left out, in this order, each told by a field of its own. */
const TRUNCATIONS: [field: string, cut: (value: unknown) => unknown][] = [
  ["metadata", () => ({})],
  ["warnings", (value) => (value as unknown[]).slice(0, MAX_LIST_ITEMS)],
  ["outputs", (value) => (value as unknown[]).slice(0, MAX_LIST_ITEMS)],
  ["warnings", () => []],
];

export function renderMessageBody({ type, timestamp, data }: Pick<Event, "type" | "timestamp" | "data">): string {
  let shown = data as JsonObject;
  const print = () => JSON.stringify({ type, timestamp, data: shown });
  for (const [field, cut] of TRUNCATIONS) {
    if (Buffer.byteLength(print()) <= MOST_BYTES) break;
    if (shown[field] !== undefined) shown = { ...shown, [field]: cut(shown[field]), [`${field}_truncated`]: true };
  }
  return print();
}

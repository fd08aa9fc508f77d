// The body of a message: what has happened and the run in short, in at most 20 kB. It is printed once and kept as it is.
import type { Json } from "../kit/shapes.ts";
import type { Event } from "../kit/shapes-events.ts";

const MOST_BYTES = 20_000;
const KEPT_WORDS = 10;

/** What can be left out, in this order, each told by a field of its own. */
const CUTS: [field: string, cut: (value: unknown) => unknown][] = [
  ["metadata", () => ({})],
  ["warnings", (value) => (value as unknown[]).slice(0, KEPT_WORDS)],
  ["outputs", (value) => (value as unknown[]).slice(0, KEPT_WORDS)],
  ["warnings", () => []],
];

export function printBody({ type, timestamp, data }: Pick<Event, "type" | "timestamp" | "data">): string {
  let shown = data as Json;
  const print = () => JSON.stringify({ type, timestamp, data: shown });
  for (const [field, cut] of CUTS) {
    if (Buffer.byteLength(print()) <= MOST_BYTES) break;
    if (shown[field] !== undefined) shown = { ...shown, [field]: cut(shown[field]), [`${field}_truncated`]: true };
  }
  return print();
}

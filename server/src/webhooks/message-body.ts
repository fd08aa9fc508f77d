// The body of a webhook message: the event with a summary of its run, at most 20 kB. It is rendered once and stored.
import type { Event } from "../contract/schemas/events.ts";
import type { JsonObject } from "../contract/schemas/run.ts";

const MAX_BYTES = 20_000;
const MAX_LIST_ITEMS = 10;

/** Fields that are shortened in this order until the body fits; `<field>_truncated` tells the receiver. */
const TRUNCATIONS: [field: string, cut: (value: unknown) => unknown][] = [
  ["metadata", () => ({})],
  ["warnings", (value) => (value as unknown[]).slice(0, MAX_LIST_ITEMS)],
  ["outputs", (value) => (value as unknown[]).slice(0, MAX_LIST_ITEMS)],
  ["warnings", () => []],
];

export function renderMessageBody({ type, timestamp, data }: Pick<Event, "type" | "timestamp" | "data">): string {
  let truncated = data as JsonObject;
  const render = () => JSON.stringify({ type, timestamp, data: truncated });
  for (const [field, cut] of TRUNCATIONS) {
    if (Buffer.byteLength(render()) <= MAX_BYTES) break;
    if (truncated[field] !== undefined)
      truncated = { ...truncated, [field]: cut(truncated[field]), [`${field}_truncated`]: true };
  }
  return render();
}

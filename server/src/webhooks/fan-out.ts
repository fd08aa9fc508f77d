// Fan-out: reads the event log and inserts one delivery per subscribed endpoint. Deliveries and the log cursor are
// written in one transaction, so a crash loses and duplicates nothing, and only one of several concurrent readers
// succeeds. Batches are bounded by bytes and shrink after a failure; an event that fails alone is set aside.
import { type EventRow, type LogPosition, listEventsAfter } from "../db/event-log.ts";
import type { NewDelivery } from "../db/webhooks/deliveries.ts";
import { commitFanOut, listProgressTimes, readFanOutCursor } from "../db/webhooks/fan-out.ts";
import { setEventAside } from "../db/webhooks/set-aside-events.ts";
import { buildDeliveries, loadFanOutInput } from "./build-deliveries.ts";
import { isDatabaseUnavailable, reportSetAsideEvent, setAsideReason } from "./set-aside-events.ts";
import { disableAfterSeconds, type WebhookServices } from "./webhook-service.ts";

const MAX_BATCH_EVENTS = 500;
/**
 * Most bytes of deliveries in one statement. PostgreSQL refuses a JSON value above 256 MB. An event for 100 endpoints
 * with bodies of 20 kB has about 2 MB.
 */
const MAX_BATCH_BYTES = 4_000_000;
/** Minimum time between two progress messages of a run. */
const PROGRESS_INTERVAL_MS = 2_000;

type Dependencies = Pick<WebhookServices, "database" | "assets" | "webhookSettings" | "log">;

/** Returns the number of events that were read, or undefined if another process has read them meanwhile. */
export type FanOut = () => Promise<number | undefined>;

export function createFanOut(services: Dependencies): FanOut {
  let limit = MAX_BATCH_EVENTS;
  return async () => {
    const from = await readFanOutCursor(services.database);
    const events = await listEventsAfter(services.database, from, limit);
    const [first] = events;
    if (!first) return 0;
    try {
      const read = await fanOutBatch(services, from, events);
      limit = Math.min(limit * 2, MAX_BATCH_EVENTS);
      return read;
    } catch (thrown) {
      limit = Math.max(1, Math.floor(events.length / 2));
      if (isDatabaseUnavailable(thrown)) throw thrown;
      if (events.length > 1) {
        services.log.warn(
          { events: events.length, err: thrown },
          "a fan-out batch failed; it is retried with half of its events",
        );
        return undefined;
      }
      const isSetAside = await setEventAside(services.database, from, first, setAsideReason(thrown));
      if (isSetAside) reportSetAsideEvent(services, first, thrown);
      return isSetAside ? 1 : undefined;
    }
  };
}

async function fanOutBatch(services: Dependencies, from: LogPosition, read: EventRow[]): Promise<number | undefined> {
  const input = await loadFanOutInput(services.database, read);
  const throttled = await throttleProgress(services, read);
  const { events, deliveries } = takeBatch(read, (event) =>
    throttled.has(event) ? [] : buildDeliveries(services, event, input),
  );
  const progressSent = events.filter((event) => isProgress(event) && !throttled.has(event));
  const committed = await commitFanOut(services.database, {
    ...{ from, to: events.at(-1)!, deliveries },
    progressSent: [...new Map(progressSent.map(({ run_id, created_at }) => [run_id, created_at]))].map(
      ([run_id, sent_at]) => ({ run_id, sent_at }),
    ),
    ended: events.filter(({ terminal }) => terminal).map(({ run_id }) => run_id),
    givesUpSeconds: disableAfterSeconds(services),
  });
  return committed === undefined ? undefined : events.length;
}

/** The first events whose deliveries fit into one statement; at least one event. */
function takeBatch(read: EventRow[], build: (event: EventRow) => NewDelivery[]) {
  const events: EventRow[] = [];
  const deliveries: NewDelivery[] = [];
  let bytes = 0;
  for (const event of read) {
    const built = build(event);
    for (const delivery of built) bytes += Buffer.byteLength(JSON.stringify(delivery));
    if (events.length > 0 && bytes > MAX_BATCH_BYTES) break;
    events.push(event);
    deliveries.push(...built);
  }
  return { events, deliveries };
}

const isProgress = ({ type }: EventRow) => type === "run.progress";

/** The progress events that follow the last sent one of their run within two seconds. They are not sent. */
async function throttleProgress({ database }: Dependencies, events: EventRow[]): Promise<Set<EventRow>> {
  const progressEvents = events.filter(isProgress);
  const lastSent = await listProgressTimes(database, [...new Set(progressEvents.map(({ run_id }) => run_id))]);
  const throttled = new Set<EventRow>();
  for (const event of progressEvents) {
    const before = lastSent.get(event.run_id)?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (event.created_at.getTime() - before < PROGRESS_INTERVAL_MS) throttled.add(event);
    else lastSent.set(event.run_id, event.created_at);
  }
  return throttled;
}

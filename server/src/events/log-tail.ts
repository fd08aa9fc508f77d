// The tail of the event log, read once for all subscribers of a process: one loop and one query per round. A subscriber
// receives every event after the position at which it subscribed, in order. Without subscribers the loop stops.

import type { Event } from "../contract/schemas/events.ts";
import type { Database } from "../db/connect.ts";
import { type EventRow, type LogPosition, listEventsAfter, readLogHead } from "../db/event-log.ts";
import { type EventRunRow, findRunsOfEvents } from "../db/runs/event-runs.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import { renderEvent } from "../runs/show/render-event.ts";
import type { RenderDependencies } from "../runs/show/render-run.ts";

/** An event with its run, and its bytes as a server-sent event. */
export type RenderedEvent = { row: EventRow; run: EventRunRow | undefined; event: Event; bytes: Uint8Array };

export type TailSubscriber = {
  tenant_id: string;
  /** Only events of this run. */
  run_id?: string | undefined;
  onEvent(event: RenderedEvent): void;
};

export type LogTail = {
  /** Returns the position after which events are received. */
  subscribe(subscriber: TailSubscriber): Promise<{ from: LogPosition; unsubscribe(): void }>;
};

/** What rendering events uses. */
export type EventServices = RenderDependencies & { database: Database };
type Dependencies = EventServices & Pick<Runtime, "clock" | "log">;

const POLL_MS = 20;
/** Delay after a failed query. No event is lost, because the position does not move. */
const RETRY_MS = 500;
const BATCH = 500;

export function createLogTail(
  services: Dependencies,
  renderFrame: (row: EventRow, event: Event) => Uint8Array,
): LogTail {
  const subscribersByKey = new Map<string, Set<TailSubscriber>>();
  let subscriberCount = 0;
  let position: LogPosition | undefined;
  let starting: Promise<void> | undefined;

  const subscriberKey = ({ run_id, tenant_id }: Pick<TailSubscriber, "run_id" | "tenant_id">) =>
    `${tenant_id}/${run_id ?? ""}`;
  const subscribersOf = ({ tenant_id, run_id }: EventRow) => [
    ...(subscribersByKey.get(subscriberKey({ tenant_id })) ?? []),
    ...(subscribersByKey.get(subscriberKey({ tenant_id, run_id })) ?? []),
  ];

  /** Returns whether there may be more events at once. */
  const round = async (): Promise<boolean> => {
    const rows = await listEventsAfter(services.database, position!, BATCH);
    const subscribed = rows.filter((row) => subscribersOf(row).length > 0);
    for (const event of await renderEvents(services, subscribed, renderFrame)) {
      for (const subscriber of subscribersOf(event.row)) subscriber.onEvent(event);
    }
    position = rows.at(-1) ?? position;
    return rows.length === BATCH;
  };

  const run = async () => {
    while (subscriberCount > 0) {
      const startedAt = services.clock.monotonic();
      const more = await round().catch((thrown) => {
        services.log.warn({ err: thrown }, "reading the event log failed");
        return undefined;
      });
      const pauseMs = more === undefined ? RETRY_MS : POLL_MS - (services.clock.monotonic() - startedAt);
      if (!more && pauseMs > 0) await services.clock.sleep(pauseMs);
    }
    position = undefined;
    starting = undefined;
  };
  const start = async () => {
    try {
      position = await readLogHead(services.database);
      void run();
    } catch (thrown) {
      starting = undefined;
      throw thrown;
    }
  };

  return {
    async subscribe(subscriber) {
      const key = subscriberKey(subscriber);
      const own = subscribersByKey.get(key) ?? new Set();
      subscribersByKey.set(key, own.add(subscriber));
      subscriberCount++;
      let isUnsubscribed = false;
      const unsubscribe = () => {
        if (isUnsubscribed) return;
        isUnsubscribed = true;
        subscriberCount--;
        own.delete(subscriber);
        if (own.size === 0 && subscribersByKey.get(key) === own) subscribersByKey.delete(key);
      };
      try {
        starting ??= start();
        await starting;
      } catch (thrown) {
        unsubscribe();
        throw thrown;
      }
      return { from: position!, unsubscribe };
    },
  };
}

/** Renders events with their runs, which are read with one query. */
export async function renderEvents(
  services: EventServices,
  rows: readonly EventRow[],
  renderFrame: (row: EventRow, event: Event) => Uint8Array,
): Promise<RenderedEvent[]> {
  const runs = await findRunsOfEvents(services.database, rows);
  return rows.map((row) => {
    const run = runs.get(row.run_id);
    const event = renderEvent(services, row, run);
    return { row, run, event, bytes: renderFrame(row, event) };
  });
}

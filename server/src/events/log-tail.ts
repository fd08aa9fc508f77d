// The end of the log, read once for all who listen in this process: one loop, one question, however many they are. Who joins
// hears everything after the place that it joined at, in order; what came before is in the log. Without listeners it rests.
import {
  type EventRow,
  type EventRunRow,
  findRunsOfEvents,
  type LogPosition,
  listEventsAfter,
  readLogHead,
} from "../db/event-log.ts";
import type { Event } from "../kit/schemas/events.ts";
import { renderEvent } from "../runs/render-event.ts";
import type { Services } from "../runs/services.ts";

/** An event with its run, and the bytes in which a stream tells it. */
export type RenderedEvent = { row: EventRow; run: EventRunRow | undefined; event: Event; bytes: Uint8Array };

export type TailSubscriber = {
  tenant_id: string;
  /** Only what is told of this run. */
  run_id?: string | undefined;
  onEvent(told: RenderedEvent): void;
};

export type LogTail = {
  /** Answers from where on it hears, and how to leave. */
  subscribe(listener: TailSubscriber): Promise<{ from: LogPosition; unsubscribe(): void }>;
};

type Dependencies = Pick<Services, "db" | "assetUrl" | "log">;

const POLL_MS = 20;
/** The database cannot be asked: nothing is lost meanwhile, since the place is kept. */
const RETRY_MS = 500;
const BATCH = 500;

export function createLogTail(
  services: Dependencies,
  renderFrame: (row: EventRow, event: Event) => Uint8Array,
): LogTail {
  const listeners = new Map<string, Set<TailSubscriber>>();
  let count = 0;
  let position: LogPosition | undefined;
  let starting: Promise<void> | undefined;

  const subscriberKey = ({ run_id, tenant_id }: Pick<TailSubscriber, "run_id" | "tenant_id">) =>
    `${tenant_id}/${run_id ?? ""}`;
  const subscribersOf = ({ tenant_id, run_id }: EventRow) => [
    ...(listeners.get(subscriberKey({ tenant_id })) ?? []),
    ...(listeners.get(subscriberKey({ tenant_id, run_id })) ?? []),
  ];

  /** Whether there may be more at once. */
  const round = async (): Promise<boolean> => {
    const rows = await listEventsAfter(services.db, position!, BATCH);
    const heard = rows.filter((row) => subscribersOf(row).length > 0);
    for (const told of await renderEvents(services, heard, renderFrame)) {
      for (const listener of subscribersOf(told.row)) listener.onEvent(told);
    }
    position = rows.at(-1) ?? position;
    return rows.length === BATCH;
  };

  const run = async () => {
    while (count > 0) {
      const begun = performance.now();
      const more = await round().catch((thrown) => {
        services.log.warn({ err: thrown }, "reading the event log failed");
        return undefined;
      });
      const rest = more === undefined ? RETRY_MS : POLL_MS - (performance.now() - begun);
      if (!more && rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    position = undefined;
    starting = undefined;
  };
  const start = async () => {
    try {
      position = await readLogHead(services.db);
      void run();
    } catch (thrown) {
      starting = undefined;
      throw thrown;
    }
  };

  return {
    async subscribe(listener) {
      const name = subscriberKey(listener);
      const own = listeners.get(name) ?? new Set();
      listeners.set(name, own.add(listener));
      count++;
      let hasLeft = false;
      const leave = () => {
        if (hasLeft) return;
        hasLeft = true;
        count--;
        own.delete(listener);
        if (own.size === 0 && listeners.get(name) === own) listeners.delete(name);
      };
      try {
        starting ??= start();
        await starting;
      } catch (thrown) {
        leave();
        throw thrown;
      }
      return { from: position!, unsubscribe: leave };
    },
  };
}

/** Events as they are told, each with its run; one question for all of them. */
export async function renderEvents(
  services: Pick<Services, "db" | "assetUrl">,
  rows: readonly EventRow[],
  renderFrame: (row: EventRow, event: Event) => Uint8Array,
): Promise<RenderedEvent[]> {
  const runs = await findRunsOfEvents(services.db, rows);
  return rows.map((row) => {
    const run = runs.get(row.run_id);
    const event = renderEvent(services, row, run);
    return { row, run, event, bytes: renderFrame(row, event) };
  });
}

// The end of the log, read once for all who listen in this process: one loop, one question, however many they are. Who joins
// hears everything after the place that it joined at, in order; what came before is in the log. Without listeners it rests.
import { type EventRow, type EventRun, eventsAfter, headOf, type Position, runsOfEvents } from "../db/events.ts";
import type { Event } from "../kit/shapes-events.ts";
import type { House } from "../runs/house.ts";
import { showEvent } from "../runs/show-event.ts";

/** An event with its run, and the bytes in which a stream tells it. */
export type Told = { row: EventRow; run: EventRun | undefined; event: Event; bytes: Uint8Array };

export type Listener = {
  tenant_id: string;
  /** Only what is told of this run. */
  run_id?: string | undefined;
  hear(told: Told): void;
};

export type Tail = {
  /** Answers from where on it hears, and how to leave. */
  join(listener: Listener): Promise<{ from: Position; leave(): void }>;
};

type Reader = Pick<House, "db" | "assetUrl" | "log">;

const EVERY_MS = 20;
/** The database cannot be asked: nothing is lost meanwhile, since the place is kept. */
const AGAIN_MS = 500;
const BATCH = 500;

export function createTail(house: Reader, print: (row: EventRow, event: Event) => Uint8Array): Tail {
  const listeners = new Map<string, Set<Listener>>();
  let count = 0;
  let position: Position | undefined;
  let starting: Promise<void> | undefined;

  const of = ({ run_id, tenant_id }: Pick<Listener, "run_id" | "tenant_id">) => `${tenant_id}/${run_id ?? ""}`;
  const listenersOf = ({ tenant_id, run_id }: EventRow) => [
    ...(listeners.get(of({ tenant_id })) ?? []),
    ...(listeners.get(of({ tenant_id, run_id })) ?? []),
  ];

  /** Whether there may be more at once. */
  const round = async (): Promise<boolean> => {
    const rows = await eventsAfter(house.db, position!, BATCH);
    const heard = rows.filter((row) => listenersOf(row).length > 0);
    for (const told of await tellAll(house, heard, print)) {
      for (const listener of listenersOf(told.row)) listener.hear(told);
    }
    position = rows.at(-1) ?? position;
    return rows.length === BATCH;
  };

  const run = async () => {
    while (count > 0) {
      const begun = performance.now();
      const more = await round().catch((thrown) => {
        house.log.warn({ err: thrown }, "the log of events cannot be read");
        return undefined;
      });
      const rest = more === undefined ? AGAIN_MS : EVERY_MS - (performance.now() - begun);
      if (!more && rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    position = undefined;
    starting = undefined;
  };
  const start = async () => {
    try {
      position = await headOf(house.db);
      void run();
    } catch (thrown) {
      starting = undefined;
      throw thrown;
    }
  };

  return {
    async join(listener) {
      const name = of(listener);
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
      return { from: position!, leave };
    },
  };
}

/** Events as they are told, each with its run; one question for all of them. */
export async function tellAll(
  house: Pick<House, "db" | "assetUrl">,
  rows: readonly EventRow[],
  print: (row: EventRow, event: Event) => Uint8Array,
): Promise<Told[]> {
  const runs = await runsOfEvents(house.db, rows);
  return rows.map((row) => {
    const run = runs.get(row.run_id);
    const event = showEvent(house, row, run);
    return { row, run, event, bytes: print(row, event) };
  });
}

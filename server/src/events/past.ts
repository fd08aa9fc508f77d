// What there is to tell of the past: of a run everything, of a tenant how its open runs stand, or what the caller missed.
import {
  type EventRow,
  eventsOfRun,
  eventsOfTenant,
  headOf,
  isAfter,
  type Position,
  standingAt,
} from "../db/events.ts";
import type { RunRow } from "../db/runs.ts";
import type { EventFilter } from "../kit/shapes-events.ts";
import type { House } from "../runs/house.ts";
import { isOpen } from "../runs/show.ts";
import { endOf } from "../runs/show-event.ts";
import type { Told } from "./tail.ts";

/** `run` is given where the stream is of that run and ends with it; `house` sees the caller's tenant only. */
export type Wish = {
  house: House;
  tenant_id: string;
  run?: RunRow;
  filter: EventFilter;
  after: Position | undefined;
};

const PAGE = 200;
/** The open runs that a new stream of all events begins with, the newest of them. */
const MOST_STANDING = 500;

export const isWanted = ({ types, run_type }: EventFilter, { row, run }: Told): boolean =>
  (types === undefined || types.includes(row.type)) && (run_type === undefined || run_type === run?.run_type);

/** A database that was set back knows less than the caller was once told: then it goes on from where the log ends. */
export async function withinLog({ house, after }: Wish, from: Position): Promise<Position | undefined> {
  if (!after || !isAfter(after, from)) return after;
  const head = await headOf(house.db);
  return isAfter(after, head) ? head : after;
}

/** What there is to tell before the tail takes over. Undefined: the caller knows how the run has ended. */
export async function pastOf(wish: Wish, from: Position): Promise<AsyncIterable<EventRow[]> | undefined> {
  const { house, tenant_id, run, after } = wish;
  if (!run) return pagesOf(wish, from);
  const events = await eventsOfRun(house.db, tenant_id, run.run_id);
  const end = events.find(({ terminal }) => terminal);
  if (after && (end ? !isAfter(end, after) : !isOpen(run))) return undefined;
  return onePage(end || isOpen(run) ? finalAfter(events, after) : [endOf(run)]);
}

const finalAfter = (events: (EventRow & { is_final: boolean })[], after: Position | undefined): EventRow[] =>
  events.filter((event) => event.is_final && (!after || isAfter(event, after)));

async function* onePage(rows: EventRow[]): AsyncIterable<EventRow[]> {
  yield rows;
}

/** A caller who knows nothing yet is shown how the open runs stand; one who comes back, everything since then. */
async function* pagesOf({ house, tenant_id, filter, after }: Wish, from: Position): AsyncIterable<EventRow[]> {
  if (filter.run_id) return yield finalAfter(await eventsOfRun(house.db, tenant_id, filter.run_id), after);
  if (!after) yield await standingAt(house.db, tenant_id, { ...from, limit: MOST_STANDING });
  for (let position = after ?? from; ; ) {
    const rows = await eventsOfTenant(house.db, tenant_id, { ...position, limit: PAGE });
    yield rows;
    if (rows.length < PAGE) return;
    position = rows.at(-1)!;
  }
}

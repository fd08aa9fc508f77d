// The log for those who do not stay on the line: what there is now, in one answer, and from where to ask on.
import { type EventRow, headOf, isAfter, type Position, printPosition } from "../db/events.ts";
import type { EventPage } from "../kit/shapes-events.ts";
import { eventFrame } from "./frames.ts";
import { isWanted, pastOf, type Wish, withinLog } from "./past.ts";
import { type Told, tellAll } from "./tail.ts";

export async function pageOf(asked: Wish): Promise<EventPage> {
  const head = await headOf(asked.house.db);
  const wish = { ...asked, after: await withinLog(asked, head) };
  const { told, last } = await firstWanted(wish, await pastOf(wish, head));
  // Who was shown how the open runs stand goes on from this moment, and not from the last change of one of them.
  const isStanding = !wish.after && !wish.run && !wish.filter.run_id;
  const place = isStanding && !(last && isAfter(last, head)) ? head : last;
  return {
    data: told.map(({ row, event }) => ({ id: printPosition(row), ...event })),
    last_id: place ? printPosition(place) : null,
  };
}

/** A page in which nothing is wanted is passed over: an empty answer means that there is no more. */
async function firstWanted(
  wish: Wish,
  pages: AsyncIterable<EventRow[]> | undefined,
): Promise<{ told: Told[]; last: Position | undefined }> {
  let last = wish.after;
  for await (const rows of pages ?? []) {
    last = rows.at(-1) ?? last;
    const told = (await tellAll(wish.house, rows, eventFrame)).filter((each) => isWanted(wish.filter, each));
    if (told.length > 0) return { told, last };
  }
  return { told: [], last };
}

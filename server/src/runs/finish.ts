// The end of a run: one transaction with its event, by whoever still holds the run. A second end changes nothing.
import { endRun, type Held } from "../db/open-runs.ts";
import { chosen } from "./choose.ts";
import type { Finish } from "./execute.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

export async function finish(house: House, held: Held, end: Finish): Promise<void> {
  house.moment("finishing");
  const ended = await endRun(
    house.db,
    held,
    end.status === "completed"
      ? {
          status: "completed",
          outputs: end.outputs,
          provider: end.last.choice.provider,
          cost: costOf(house, end),
          warnings: end.warnings,
        }
      : end,
    idWithin(held.run_id, "end"),
  );
  house.moment("finished");
  if (ended) house.ended.say(held.run_id);
}

function costOf(house: House, end: Extract<Finish, { status: "completed" }>): number | null {
  const { offer } = chosen(house, end.last.choice, end.last.job);
  return offer.price === null ? null : offer.price * end.outputs.length;
}

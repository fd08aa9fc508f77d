// The end of a run: one transaction with its event, by whoever still holds the run. A second end changes nothing.
import { endRun, type Held } from "../db/open-runs.ts";
import { fit } from "../providers/fit.ts";
import { chooseOffer, chosen } from "./choose.ts";
import type { Finish } from "./execute.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { costOf } from "./money.ts";

export async function finish(house: House, held: Held, end: Finish): Promise<void> {
  house.moment("finishing");
  const last = end.status === "completed" ? end.done.at(-1) : undefined;
  const ended = await endRun(
    house.db,
    held,
    end.status === "completed"
      ? {
          ...end,
          provider: providerOf(end) ?? last!.choice.provider,
          cost: costOf(house, end.done),
          warnings: [...end.warnings, ...changesElsewhere(house, end)],
        }
      : end,
    idWithin(held.run_id, "end"),
  );
  house.moment("finished");
  if (ended) house.ended.say(held.run_id);
}

/** What whoever stood in had to change. What the first choice changes was told when the run was accepted. */
function changesElsewhere(house: House, end: Completed): string[] {
  const says = end.done.flatMap(({ job, choice }) => {
    try {
      return choice.as === chooseOffer(house, job).as ? [] : fit(job, chosen(house, choice, job).offer).changes;
    } catch {
      // Its offers were taken out of the catalogue meanwhile: what has been made is made all the same.
      return [];
    }
  });
  return [...new Set(says.map((change) => change.says))];
}

type Completed = Extract<Finish, { status: "completed" }>;

/** The run is said to be of the provider that made it, not of our own finishing touch. */
const providerOf = (end: Completed) => end.done.find(({ choice }) => choice.provider !== "local")?.choice.provider;

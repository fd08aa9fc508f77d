// The end of a run: one transaction with its event, by whoever still holds the run. A second end changes nothing.
import { endRun, type Held } from "../db/open-runs.ts";
import { chosen } from "./choose.ts";
import type { Finish } from "./execute.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

export async function finish(house: House, held: Held, end: Finish): Promise<void> {
  house.moment("finishing");
  const last = end.status === "completed" ? end.done.at(-1) : undefined;
  const ended = await endRun(
    house.db,
    held,
    end.status === "completed"
      ? { ...end, provider: providerOf(end) ?? last!.choice.provider, cost: costOf(house, end) }
      : end,
    idWithin(held.run_id, "end"),
  );
  house.moment("finished");
  if (ended) house.ended.say(held.run_id);
}

type Completed = Extract<Finish, { status: "completed" }>;

/** The run is said to be of the provider that made it, not of our own finishing touch. */
const providerOf = (end: Completed) => end.done.find(({ choice }) => choice.provider !== "local")?.choice.provider;

/** The sum of the jobs' prices; not known as soon as one of them is not. */
function costOf(house: House, end: Completed): number | null {
  const files = end.result.jobs ?? [end.result.outputs];
  return end.done.reduce<number | null>((sum, { job, choice }, n) => {
    const { offer } = chosen(house, choice, job);
    return sum === null || offer.price === null ? null : sum + offer.price * Math.max(1, files[n]?.length ?? 0);
  }, 0);
}

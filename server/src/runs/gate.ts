// What stands between a job and its provider: whether the provider is in order, and whether all our processes together may
// use more of it now. A job that cannot pass goes to who may stand in, or waits here without costing anything.
import { latestAttempt } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import { takePlace, takeTurn } from "../db/pace.ts";
import { Fault } from "../faults.ts";
import type { Choice } from "../providers/provider.ts";
import { choiceOf, chosen, standIns } from "./choose.ts";
import type { JobInHand } from "./execute.ts";
import type { House } from "./house.ts";

export type Passage = { pass: true } | { elsewhere: Choice } | { waitSeconds: number };

/** How long to stay away where nobody can say when a place will be free. Spread, so that the waiting do not come at once. */
const placeSeconds = () => 0.5 + Math.random();
const LONGEST_WAIT_SECONDS = 15;

export async function passGate(house: House, held: Held, work: JobInHand, attempt: number): Promise<Passage> {
  const { live, offer } = chosen(house, work.choice, work.job);
  if (offer.lifecycle?.state === "retired" && !(await isBegun(house, held, work.n, attempt))) {
    const [other] = standIns(house, work.choice, work.job);
    if (!other) throw new Fault("model_unavailable", { model: work.job.model });
    return { elsewhere: choiceOf(other) };
  }
  if (!(await house.health.mayTry(work.choice))) {
    // A try that was begun before is not ours to send anywhere else: its doubt is dealt with where it arose.
    if (await isBegun(house, held, work.n, attempt)) return { pass: true };
    const other = standIns(house, work.choice, work.job).find((each) => house.health.shutFor(choiceOf(each)) === 0);
    if (other) return { elsewhere: choiceOf(other) };
    const seconds = Math.max(house.health.shutFor(work.choice), placeSeconds());
    return { waitSeconds: Math.min(seconds, LONGEST_WAIT_SECONDS) };
  }
  const { concurrent, perMinute } = live.provider.pace ?? {};
  if (concurrent !== undefined && !(await takePlace(house.db, live.provider.id, held, concurrent))) {
    return { waitSeconds: placeSeconds() };
  }
  const turnSeconds = perMinute === undefined ? 0 : await takeTurn(house.db, live.provider.id, perMinute);
  return turnSeconds > 0 ? { waitSeconds: Math.min(turnSeconds, LONGEST_WAIT_SECONDS) } : { pass: true };
}

async function isBegun(house: House, held: Held, job: number, attempt: number): Promise<boolean> {
  const latest = await latestAttempt(house.db, held.run_id, job);
  return latest !== undefined && latest.try >= attempt;
}

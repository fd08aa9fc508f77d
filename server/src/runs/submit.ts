// The one step that costs money. The right to send is a lease in PostgreSQL, taken before and outliving the request, so
// that no second attempt sends while the first may still be talking to the provider.
import { claimAttempt } from "../db/attempts.ts";
import { armWake, type Held } from "../db/open-runs.ts";
import { Fault } from "../faults.ts";
import { chosen } from "./choose.ts";
import { resolveDoubt } from "./doubt.ts";
import type { JobInHand, Sent } from "./execute.ts";
import { passGate } from "./gate.ts";
import type { House } from "./house.ts";
import { attemptKey } from "./ids.ts";
import { priceOfAttempt } from "./money.ts";
import { leaseSeconds, send } from "./send.ts";

export async function submit(
  house: House,
  held: Held,
  work: JobInHand,
  attempt: { try: number; wakeId: string },
): Promise<Sent> {
  const passage = await passGate(house, held, work, attempt.try);
  if ("elsewhere" in passage) return { state: "again", try: attempt.try, seconds: 0, choice: passage.elsewhere };
  if ("waitSeconds" in passage) return waitBefore(house, held, attempt, passage.waitSeconds);

  const { live, offer } = chosen(house, work.choice, work.job);
  const id = { run_id: held.run_id, job: work.n, try: attempt.try };
  const verdict = await claimAttempt(house.db, {
    ...held,
    ...id,
    key: attemptKey(id.run_id, id.job, id.try),
    provider: live.provider.id,
    model: work.job.model,
    upstream: offer.as,
    price: priceOfAttempt(house, work.job, work.choice),
    wakeId: attempt.wakeId,
    leaseSeconds: leaseSeconds(house),
    // What costs nothing to repeat is done by our own machine, and is our own work.
    isOurWork: offer.recovery === "free",
  });
  if (verdict === "lost" || verdict === "canceled") return { state: verdict };
  if (verdict === "mine") house.moment("intent_written");
  return verdict === "mine" ? send(house, held, work, id) : resolveDoubt(house, held, work);
}

/** The run stays known to be alive while it waits, and hears of its cancellation and its deadline. */
async function waitBefore(
  house: House,
  held: Held,
  attempt: { try: number; wakeId: string },
  seconds: number,
): Promise<Sent> {
  const armed = await armWake(house.db, held, { wakeId: attempt.wakeId, seconds, doing: "gate" });
  if (!armed) return { state: "lost" };
  if (armed.canceled) return { state: "canceled" };
  if (armed.remaining <= 0) throw new Fault("run_timeout");
  return { state: "later", try: attempt.try, seconds };
}

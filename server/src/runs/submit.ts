// The one step that costs money. The right to send is a lease in PostgreSQL, taken before and outliving the request, so
// that no second attempt sends while the first may still be talking to the provider.
import { claimAttempt } from "../db/attempts.ts";
import type { Held } from "../db/open-runs.ts";
import { chosen } from "./choose.ts";
import { resolveDoubt } from "./doubt.ts";
import type { JobInHand, Sent } from "./execute.ts";
import type { House } from "./house.ts";
import { attemptKey } from "./ids.ts";
import { leaseSeconds, send } from "./send.ts";

export async function submit(
  house: House,
  held: Held,
  work: JobInHand,
  attempt: { try: number; wakeId: string },
): Promise<Sent> {
  const { live, offer } = chosen(house, work.choice, work.job);
  const id = { run_id: held.run_id, job: work.n, try: attempt.try };
  const verdict = await claimAttempt(house.db, {
    ...held,
    ...id,
    key: attemptKey(id.run_id, id.job, id.try),
    provider: live.provider.id,
    model: work.job.model,
    upstream: offer.as,
    wakeId: attempt.wakeId,
    leaseSeconds: leaseSeconds(house),
  });
  if (verdict === "lost" || verdict === "canceled") return { state: verdict };
  if (verdict === "mine") house.moment("intent_written");
  return verdict === "mine" ? send(house, held, work, id) : resolveDoubt(house, held, work);
}

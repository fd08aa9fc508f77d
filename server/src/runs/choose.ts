// Which provider does a job: the live offer that is preferred, cheapest or fastest, and whoever may stand in for it. A choice
// is journalled; what may stand in is asked for only when the first certainly did not take the job.
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import { type Asked, canDo } from "../providers/fit.ts";
import { type Choice, type Latency, type Offer, placeOf } from "../providers/provider.ts";
import type { House, LiveProvider } from "./house.ts";
import { quantityAsked } from "./price.ts";

export type Chosen = { live: LiveProvider; offer: Offer };

type Providers = Pick<House, "providers">;
type Routed = Asked & Pick<Job, "routing" | "width" | "height">;

const SPEEDS: Latency[] = ["quick", "usual", "slow"];

export const choiceOf = ({ live, offer }: Chosen): Choice => ({ provider: live.provider.id, as: offer.as });

export function chooseOffer(house: Providers, job: Routed): Choice {
  const [first] = ranked(house, job);
  if (!first) throw new Fault("model_unavailable", { model: job.model });
  return choiceOf(first);
}

/** Who may do the job instead of `choice`, best first. Those that one request of this size is too much for are left out. */
export function standIns(house: Providers, choice: Choice, job: Routed): Chosen[] {
  const word = chosen(house, choice, job).offer.equivalence;
  if (word === undefined) return [];
  return ranked(house, job).filter(
    ({ live, offer }) =>
      offer.equivalence === word &&
      (live.provider.id !== choice.provider || offer.as !== choice.as) &&
      (offer.limits?.count ?? Number.POSITIVE_INFINITY) >= (job.count ?? 1),
  );
}

/** All that can do the job, the preferred first; on request, those equal to it in order of price or speed. */
function ranked(house: Providers, job: Routed): Chosen[] {
  const able = house.providers
    .flatMap((live) => live.provider.offers.filter((offer) => canDo(offer, job)).map((offer) => ({ live, offer })))
    .sort((a, b) => placeOf(a.live.provider, a.offer) - placeOf(b.live.provider, b.offer));
  const word = able[0]?.offer.equivalence;
  if (word === undefined || !job.routing || job.routing === "preferred") return able;
  const weigh = job.routing === "cheapest" ? (offer: Offer) => costOf(offer, job) : speedOf;
  const equal = able.filter(({ offer }) => offer.equivalence === word);
  return [
    ...equal.sort((a, b) => weigh(a.offer) - weigh(b.offer)),
    ...able.filter(({ offer }) => offer.equivalence !== word),
  ];
}

const speedOf = ({ latency = "usual" }: Offer) => SPEEDS.indexOf(latency);

/** One whose price is not known cannot be called cheap. */
function costOf(offer: Offer, job: Routed): number {
  const quantity = quantityAsked(offer, job);
  return offer.price === null || quantity === null ? Number.MAX_VALUE : offer.price * quantity;
}

/** The choice as something to work with. What was chosen may have been switched off since. */
export function chosen(house: Providers, choice: Choice, job: Pick<Job, "task" | "model">): Chosen {
  const live = house.providers.find(({ provider }) => provider.id === choice.provider);
  const offer = live?.provider.offers.find(
    (each) => each.as === choice.as && each.task === job.task && each.model === job.model,
  );
  if (!live || !offer) throw new Fault("model_unavailable", { model: job.model });
  return { live, offer };
}

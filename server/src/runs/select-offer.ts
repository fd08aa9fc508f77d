// Selects the offer for a job: preferred, cheapest or fastest, and the equivalent offers for failover. The selection is
// journalled. Failover happens only if the first provider certainly did not accept the job.
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import { canServe, type JobRequirements } from "../providers/adjust-parameters.ts";
import { type Latency, type Offer, offerPreference, type SelectedOffer } from "../providers/provider.ts";
import { calculateRequestedQuantity } from "./billable-quantity.ts";
import type { EnabledProvider, Services } from "./services.ts";

export type ResolvedOffer = { live: EnabledProvider; offer: Offer };

type Dependencies = Pick<Services, "providers">;
type RoutableJob = JobRequirements & Pick<Job, "routing" | "width" | "height">;

const LATENCY_ORDER: Latency[] = ["quick", "usual", "slow"];

export const toSelectedOffer = ({ live, offer }: ResolvedOffer): SelectedOffer => ({
  provider: live.provider.id,
  upstreamModel: offer.upstreamModel,
});

export function selectOffer(services: Dependencies, job: RoutableJob): SelectedOffer {
  const [first] = rankOffers(services, job);
  if (!first) throw new Fault("model_unavailable", { model: job.model });
  return toSelectedOffer(first);
}

/** Who may do the job instead of `choice`, best first. Those that one request of this size is too much for are left out. */
export function listFailoverOffers(services: Dependencies, selected: SelectedOffer, job: RoutableJob): ResolvedOffer[] {
  const equivalence = resolveOffer(services, selected, job).offer.equivalence;
  if (equivalence === undefined) return [];
  return rankOffers(services, job).filter(
    ({ live, offer }) =>
      offer.equivalence === equivalence &&
      (live.provider.id !== selected.provider || offer.upstreamModel !== selected.upstreamModel) &&
      (offer.limits?.count ?? Number.POSITIVE_INFINITY) >= (job.count ?? 1),
  );
}

/** All that can do the job, the preferred first; on request, those equal to it in order of price or speed. */
function rankOffers(services: Dependencies, job: RoutableJob): ResolvedOffer[] {
  const eligibleOffers = services.providers
    .flatMap((live) => live.provider.offers.filter((offer) => canServe(offer, job)).map((offer) => ({ live, offer })))
    .sort((a, b) => offerPreference(a.live.provider, a.offer) - offerPreference(b.live.provider, b.offer));
  const equivalence = eligibleOffers[0]?.offer.equivalence;
  if (equivalence === undefined || !job.routing || job.routing === "preferred") return eligibleOffers;
  const scoreOffer = job.routing === "cheapest" ? (offer: Offer) => expectedCost(offer, job) : latencyRank;
  const equivalentOffers = eligibleOffers.filter(({ offer }) => offer.equivalence === equivalence);
  return [
    ...equivalentOffers.sort((a, b) => scoreOffer(a.offer) - scoreOffer(b.offer)),
    ...eligibleOffers.filter(({ offer }) => offer.equivalence !== equivalence),
  ];
}

const latencyRank = ({ latency = "usual" }: Offer) => LATENCY_ORDER.indexOf(latency);

/** One whose price is not known cannot be called cheap. */
function expectedCost(offer: Offer, job: RoutableJob): number {
  const quantity = calculateRequestedQuantity(offer, job);
  return offer.price === null || quantity === null ? Number.MAX_VALUE : offer.price * quantity;
}

/** The choice as something to work with. What was chosen may have been switched off since. */
export function resolveOffer(
  services: Dependencies,
  selected: SelectedOffer,
  job: Pick<Job, "task" | "model">,
): ResolvedOffer {
  const live = services.providers.find(({ provider }) => provider.id === selected.provider);
  const offer = live?.provider.offers.find(
    (each) => each.upstreamModel === selected.upstreamModel && each.task === job.task && each.model === job.model,
  );
  if (!live || !offer) throw new Fault("model_unavailable", { model: job.model });
  return { live, offer };
}

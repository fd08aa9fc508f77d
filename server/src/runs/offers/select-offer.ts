// Selects the offer for a job: preferred, cheapest or fastest, and the equivalent offers for failover. The selection is
// journalled. Failover happens only if the first provider certainly did not accept the job.

import type { Job } from "../../contract/operation.ts";
import { Fault } from "../../faults/faults.ts";
import { quoteJob } from "../../money/billable-quantity.ts";
import { adjustParameters, canServe, type JobRequirements } from "../../providers/adjust-parameters.ts";
import type { Latency, Offer, SelectedOffer } from "../../providers/provider.ts";
import { findOffers, type ResolvedOffer } from "../../providers/resolve-model.ts";
import type { ProviderRegistry } from "./provider-registry.ts";

export type { ResolvedOffer };

export type OfferDependencies = { providers: Pick<ProviderRegistry, "enabled"> };
type RoutableJob = JobRequirements & Pick<Job, "routing" | "width" | "height" | "is_strict">;

const LATENCY_ORDER: Latency[] = ["quick", "usual", "slow"];

export const toSelectedOffer = ({ enabledProvider, offer }: ResolvedOffer): SelectedOffer => ({
  provider: enabledProvider.provider.id,
  upstreamModel: offer.upstreamModel,
});

/** If the source exceeds the limits of all offers, the first of them is selected and says so. */
export function selectOffer(services: OfferDependencies, job: RoutableJob): SelectedOffer {
  const first = findBestOffer(services, job) ?? findBestOffer(services, { ...job, source_size: undefined });
  if (!first) throw new Fault("model_unavailable", { model: job.model });
  return toSelectedOffer(first);
}

/** Undefined if no enabled offer can serve the job. */
export const findBestOffer = (services: OfferDependencies, job: RoutableJob): ResolvedOffer | undefined =>
  rankOffers(services, job)[0];

/**
 * Offers that may take the job instead of `selected`, best first. Offers that cannot return `count` results are left
 * out, and those that would change a parameter of a job with strict handling.
 */
export function listFailoverOffers(
  services: OfferDependencies,
  selected: SelectedOffer,
  job: RoutableJob,
): ResolvedOffer[] {
  const equivalence = resolveOffer(services, selected, job).offer.equivalence;
  if (equivalence === undefined) return [];
  return listOtherOffers(services, selected, job).filter(({ offer }) => offer.equivalence === equivalence);
}

/**
 * Offers for a job that exceeds a limit of `selected`, best first. As for the first selection, they need not be
 * equivalent. Their price must be known, because it is reserved when the run is accepted.
 */
export const listOffersAboveLimit = (
  services: OfferDependencies,
  selected: SelectedOffer,
  job: RoutableJob,
): ResolvedOffer[] => listOtherOffers(services, selected, job).filter(({ offer }) => offer.price !== null);

function listOtherOffers(services: OfferDependencies, selected: SelectedOffer, job: RoutableJob): ResolvedOffer[] {
  return rankOffers(services, job).filter(
    ({ enabledProvider, offer }) =>
      (enabledProvider.provider.id !== selected.provider || offer.upstreamModel !== selected.upstreamModel) &&
      (offer.limits?.count ?? Number.POSITIVE_INFINITY) >= (job.count ?? 1) &&
      !(job.is_strict && adjustParameters(job, offer).changes.length > 0),
  );
}

/** All offers that can serve the job, the preferred one first; with `routing`, its equivalents by price or by speed. */
function rankOffers({ providers }: OfferDependencies, job: RoutableJob): ResolvedOffer[] {
  const eligibleOffers = findOffers(providers.enabled, job).filter(({ offer }) => canServe(offer, job));
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

/** An offer with an unknown price ranks last. */
const expectedCost = (offer: Offer, job: RoutableJob): number => quoteJob(offer, job as Job).amount ?? Number.MAX_VALUE;

/** Looks up a journalled selection. Throws model_unavailable if the offer was removed from the catalogue since. */
export function resolveOffer(
  services: OfferDependencies,
  selected: SelectedOffer,
  job: Pick<Job, "task" | "model">,
): ResolvedOffer {
  const found = findSelectedOffer(services, selected, job);
  if (!found) throw new Fault("model_unavailable", { model: job.model });
  return found;
}

/** Undefined if the offer was removed from the catalogue, or its provider disabled. */
export const findSelectedOffer = (
  { providers }: OfferDependencies,
  { provider: providerId, upstreamModel }: SelectedOffer,
  job: Pick<Job<unknown>, "task" | "model">,
): ResolvedOffer | undefined =>
  findOffers(providers.enabled, job).find(
    ({ enabledProvider: { provider }, offer }) => provider.id === providerId && offer.upstreamModel === upstreamModel,
  );

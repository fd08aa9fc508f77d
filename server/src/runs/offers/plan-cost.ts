// What a plan costs at the offers that would be selected for it now, to compare routes to the same result.
import type { Job } from "../../contract/operation.ts";
import { quoteJob, sumAmounts } from "../../money/billable-quantity.ts";
import { findBestOffer, type OfferDependencies } from "./select-offer.ts";

/** An unknown price is the highest one. Every job must have an offer. */
export function costOfPlan(services: OfferDependencies, plan: Job[]): number {
  const cost = sumAmounts(plan.map((job) => quoteJob(findBestOffer(services, job)!.offer, job).amount));
  return cost ?? Number.POSITIVE_INFINITY;
}

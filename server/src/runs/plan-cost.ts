// What a plan costs at the offers that would be selected for it now, to compare routes to the same result.
import type { Job } from "../kit/operation.ts";
import { calculateRequestedQuantity, sumCosts } from "./billable-quantity.ts";
import { findBestOffer, type OfferDependencies } from "./select-offer.ts";

/** An unknown price is the highest one. Every job must have an offer. */
export function costOfPlan(services: OfferDependencies, plan: Job[]): number {
  const cost = sumCosts(
    plan.map((job) => {
      const offer = findBestOffer(services, job)!.offer;
      return { price: offer.price, quantity: calculateRequestedQuantity(offer, job) };
    }),
  );
  return cost ?? Number.POSITIVE_INFINITY;
}

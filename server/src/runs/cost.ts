// Cost of a run, estimated and actual, at the prices of its acceptance: a later change of the catalogue never changes
// what an accepted run is charged.

import { type Caller, limitHolders } from "../db/access/caller.ts";
import type { Database } from "../db/connect.ts";
import { insertTokenBudget } from "../db/money/budgets.ts";
import { Fault } from "../faults.ts";
import type { AcceptedPrice, Job } from "../kit/operation.ts";
import { honourAll } from "../providers/parameter-support.ts";
import type { Offer, SelectedOffer } from "../providers/provider.ts";
import { calculateDeliveredQuantity, calculateRequestedQuantity, sumCosts } from "./billable-quantity.ts";
import type { FinishedRequest } from "./execute.ts";
import { findEnabledProvider } from "./provider-registry.ts";
import type { OfferDependencies, ResolvedOffer } from "./select-offer.ts";

/** The ledger counts in whole micro-dollars. */
const MICRODOLLARS_PER_DOLLAR = 1_000_000;
export const toMicrodollars = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * MICRODOLLARS_PER_DOLLAR);

/**
 * Prices of all offers for the job's model, that of the selected offer first. They are stored with the accepted run.
 */
export function listAcceptedPrices({ providers }: OfferDependencies, job: Job, first: ResolvedOffer): AcceptedPrice[] {
  const all = providers.enabled.flatMap(({ provider }) =>
    provider.offers
      .filter(
        ({ task, model, lifecycle }) => task === job.task && model === job.model && lifecycle?.state !== "retired",
      )
      .map((offer) => toAcceptedPrice(provider.id, offer)),
  );
  const firstProvider = first.enabledProvider.provider.id;
  const isFirst = ({ provider, as }: AcceptedPrice) => provider === firstProvider && as === first.offer.upstreamModel;
  return [toAcceptedPrice(firstProvider, first.offer), ...all.filter((price) => !isFirst(price))];
}

const toAcceptedPrice = (provider: string, { upstreamModel: as, price, per, limits }: Offer): AcceptedPrice => ({
  ...{ provider, as, price },
  ...(per && { per }),
  ...(per === "call" && limits?.count !== undefined && { count: limits.count }),
});

/**
 * The offer with its price at acceptance. An offer that did not exist then is billed at the price of the offer selected
 * at acceptance.
 */
function offerAtAcceptedPrice<S>(
  services: OfferDependencies,
  job: Job<S>,
  { provider, upstreamModel }: SelectedOffer,
): Offer | undefined {
  const currentOffer = findEnabledProvider(services, provider)?.provider.offers.find(
    (each) => each.upstreamModel === upstreamModel && each.task === job.task && each.model === job.model,
  );
  const prices = job.prices ?? [];
  const accepted = prices.find((each) => each.provider === provider && each.as === upstreamModel) ?? prices[0];
  if (!accepted) return currentOffer;
  const parameters = honourAll(job.task);
  const offer = currentOffer ?? { task: job.task, model: job.model, upstreamModel, recovery: "none", parameters };
  const { price, per = "image", count } = accepted;
  return { ...offer, price, per, limits: { ...currentOffer?.limits, ...(count !== undefined && { count }) } };
}

type BilledRequest = Pick<FinishedRequest, "job" | "offer"> & {
  files: Parameters<typeof calculateDeliveredQuantity>[2];
};

/** Cost of what was delivered, in micro-dollars; null if a price is unknown. */
export const calculateRunCost = (services: OfferDependencies, finishedRequests: BilledRequest[]): number | null =>
  toMicrodollars(
    sumCosts(
      finishedRequests.map(({ job, offer: selected, files }) => {
        const offer = offerAtAcceptedPrice(services, job, selected);
        return { price: offer?.price ?? null, quantity: offer ? calculateDeliveredQuantity(offer, job, files) : null };
      }),
    ),
  );

/** Expected cost of one provider request, in micro-dollars; null if the price is unknown. */
export function estimateAttemptCost<S>(
  services: OfferDependencies,
  job: Job<S>,
  selected: SelectedOffer,
): number | null {
  const offer = offerAtAcceptedPrice(services, job, selected);
  return toMicrodollars(
    sumCosts([{ price: offer?.price ?? null, quantity: offer ? calculateRequestedQuantity(offer, job as Job) : null }]),
  );
}

/** Requests with max_cost are refused when the price is unknown. */
export function checkMaxCost(estimate: number | null, maxCost: number | undefined): void {
  if (maxCost === undefined) return;
  if (estimate === null) throw new Fault("spend_limit_reached", { reason: "price_unknown" });
  if (estimate > maxCost) throw new Fault("spend_limit_reached", { reason: "max_cost", estimate, max_cost: maxCost });
}

/**
 * The keys and the token whose budgets count the run. Creates the budget of a token with a spending limit on its first
 * run.
 */
export async function resolveSpender(database: Database, caller: Caller) {
  const { token, key_id, tenant_id, expires_at } = caller;
  const spender = { key_id, key_holders: limitHolders(caller).map(({ holder_id }) => holder_id) };
  if (token?.max_spend === null || token === null) return spender;
  const total = toMicrodollars(token.max_spend)!;
  await insertTokenBudget(database, tenant_id, { token_id: token.token_id, total, ends_at: expires_at });
  return { ...spender, token_id: token.token_id };
}

// Cost of a run, estimated and actual, at the prices of its acceptance: a later change of the catalogue never changes
// what an accepted run is charged.

import type { AcceptedPrice, Job } from "../../contract/operation.ts";
import { type Caller, limitHolders } from "../../db/access/caller.ts";
import type { Database } from "../../db/connect.ts";
import { insertTokenBudget } from "../../db/money/budgets.ts";
import { Fault } from "../../faults/faults.ts";
import { costOfDelivery, type JobPrices, pricesOfJob, quoteJob, sumAmounts } from "../../money/billable-quantity.ts";
import type { PriceUnit, ReportedUsage, UnitPrices } from "../../prices/price.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import type { Offer, SelectedOffer } from "../../providers/provider.ts";
import { findOffers } from "../../providers/resolve-model.ts";
import type { FinishedRequest } from "../steps.ts";
import { findSelectedOffer, type OfferDependencies, type ResolvedOffer } from "./select-offer.ts";

/** The ledger counts in whole micro-dollars. */
const MICRODOLLARS_PER_DOLLAR = 1_000_000;
export const toMicrodollars = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * MICRODOLLARS_PER_DOLLAR);

/**
 * Prices of all offers for the job's model, that of the selected offer first. They are stored with the accepted run.
 */
export function listAcceptedPrices({ providers }: OfferDependencies, job: Job, first: ResolvedOffer): AcceptedPrice[] {
  const all = findOffers(providers.enabled, job)
    .filter(({ offer }) => offer.lifecycle?.state !== "retired")
    .map(({ enabledProvider, offer }) => toAcceptedPrice(enabledProvider.provider.id, offer, job));
  const firstProvider = first.enabledProvider.provider.id;
  const isFirst = ({ provider, as }: AcceptedPrice) => provider === firstProvider && as === first.offer.upstreamModel;
  return [toAcceptedPrice(firstProvider, first.offer, job), ...all.filter((price) => !isFirst(price))];
}

/** Units that a price without `rows` can have, as every version stored them. */
const PLAIN_UNITS: readonly PriceUnit[] = ["image", "megapixel", "second", "call"];
type PlainUnit = NonNullable<AcceptedPrice["per"]>;

function toAcceptedPrice(provider: string, offer: Offer, job: Job): AcceptedPrice {
  const as = offer.upstreamModel;
  const prices = pricesOfJob(offer, job);
  if (!prices) return { provider, as, price: null };
  const { rows, most, count } = prices;
  const [first, ...others] = Object.entries(most ?? rows) as [PriceUnit, number][];
  if (!first) return { provider, as, price: null };
  const [unit, usd] = first;
  const isPlain = !most && others.length === 0 && PLAIN_UNITS.includes(unit);
  const per = PLAIN_UNITS.includes(unit) ? (unit as PlainUnit) : unit.endsWith("megapixel") ? "megapixel" : "call";
  return {
    ...{ provider, as, price: usd },
    ...(per !== "image" && { per }),
    ...(count !== undefined && [unit, ...Object.keys(rows)].includes("call") && { count }),
    ...(!isPlain && { rows }),
    ...(!isPlain && most && { most }),
  };
}

function toJobPrices({ price, per = "image", count, rows, most }: AcceptedPrice): JobPrices | null {
  if (price === null) return null;
  if (!rows) return { rows: { [per]: price }, count };
  return { rows: rows as UnitPrices, most: most as UnitPrices | undefined, count };
}

/** An offer as far as its price is concerned. The prices are those at acceptance; null if they were unknown. */
type PricedOffer = { offer: Offer; prices: JobPrices | null };

/**
 * The offer with its price at acceptance. An offer that did not exist then is billed at the price of the offer selected
 * at acceptance.
 */
function offerAtAcceptedPrice<S>(
  services: OfferDependencies,
  job: Job<S>,
  { provider, upstreamModel }: SelectedOffer,
): PricedOffer | undefined {
  const currentOffer = findSelectedOffer(services, { provider, upstreamModel }, job)?.offer;
  const prices = job.prices ?? [];
  const accepted = prices.find((each) => each.provider === provider && each.as === upstreamModel) ?? prices[0];
  if (!accepted) return currentOffer && { offer: currentOffer, prices: pricesOfJob(currentOffer, job) };
  const { task, model } = job;
  const removed = { task, model, upstreamModel, recovery: "none" as const, price: null, parameters: honourAll(task) };
  return { offer: currentOffer ?? removed, prices: toJobPrices(accepted) };
}

type BilledRequest = Pick<FinishedRequest, "job" | "offer"> & {
  files: Parameters<typeof costOfDelivery>[2]["files"];
  usage?: ReportedUsage | undefined;
};

/** Cost of what was delivered, in micro-dollars; null if a price is unknown. */
export const calculateRunCost = (services: OfferDependencies, finishedRequests: BilledRequest[]): number | null =>
  toMicrodollars(
    sumAmounts(
      finishedRequests.map(({ job, offer: selected, files, usage }) => {
        const priced = offerAtAcceptedPrice(services, job, selected);
        return priced ? costOfDelivery(priced.offer, job, { files, usage }, priced.prices) : null;
      }),
    ),
  );

/** The most that one provider request costs, in micro-dollars; null if the price is unknown. */
export function estimateAttemptCost<S>(
  services: OfferDependencies,
  job: Job<S>,
  selected: SelectedOffer,
): number | null {
  const priced = offerAtAcceptedPrice(services, job, selected);
  return toMicrodollars(priced ? quoteJob(priced.offer, job, priced.prices).amount : null);
}

/** A request with max_cost is refused if its price is unknown. */
export function checkMaxCost(estimate: number | null, maxCost: number | undefined): void {
  if (maxCost === undefined) return;
  if (estimate === null) throw new Fault("price_unknown", { max_cost: maxCost });
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

// What a run will cost and what it did, by the prices that stood when it was accepted: whatever becomes of the catalogue
// meanwhile, nobody pays by a list that was not shown.
import { insertTokenBudget } from "../db/money/budgets.ts";
import type { Caller } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { AcceptedPrice, Job } from "../kit/operation.ts";
import type { Offer, SelectedOffer } from "../providers/provider.ts";
import { calculateDeliveredQuantity, calculateRequestedQuantity, sumCosts } from "./billable-quantity.ts";
import type { ResolvedOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

type Dependencies = Pick<Services, "providers">;

/** The books count in whole micro-dollars. */
const MICRODOLLARS_PER_DOLLAR = 1_000_000;
export const toMicrodollars = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * MICRODOLLARS_PER_DOLLAR);

/** What everybody who offers this model asks for it now, the one who would be chosen first. */
export function listAcceptedPrices({ providers }: Dependencies, job: Job, first: ResolvedOffer): AcceptedPrice[] {
  const all = providers.flatMap(({ provider }) =>
    provider.offers
      .filter(
        ({ task, model, lifecycle }) => task === job.task && model === job.model && lifecycle?.state !== "retired",
      )
      .map((offer) => toAcceptedPrice(provider.id, offer)),
  );
  const isFirst = ({ provider, as }: AcceptedPrice) =>
    provider === first.live.provider.id && as === first.offer.upstreamModel;
  return [toAcceptedPrice(first.live.provider.id, first.offer), ...all.filter((price) => !isFirst(price))];
}

const toAcceptedPrice = (provider: string, { upstreamModel: as, price, per, limits }: Offer): AcceptedPrice => ({
  ...{ provider, as, price },
  ...(per && { per }),
  ...(per === "call" && limits?.count !== undefined && { count: limits.count }),
});

/** The offer with its price at acceptance. An offer that did not exist then is billed at the price of the offer selected at acceptance. */
function offerAtAcceptedPrice<S>({ providers }: Dependencies, job: Job<S>, choice: SelectedOffer): Offer | undefined {
  const offer = providers
    .find(({ provider }) => provider.id === choice.provider)
    ?.provider.offers.find(
      (each) => each.upstreamModel === choice.upstreamModel && each.task === job.task && each.model === job.model,
    );
  const prices = job.prices ?? [];
  const known =
    prices.find(({ provider, as }) => provider === choice.provider && as === choice.upstreamModel) ?? prices[0];
  if (!known) return offer;
  const bare = offer ?? { task: job.task, model: job.model, upstreamModel: choice.upstreamModel, recovery: "none" };
  const { price, per = "image", count } = known;
  return { ...bare, price, per, limits: { ...offer?.limits, ...(count !== undefined && { count }) } };
}

type FinishedRequest = { job: Job; offer: SelectedOffer; files: Parameters<typeof calculateDeliveredQuantity>[2] };

/** What was made, in micro-dollars. */
export const calculateRunCost = (services: Dependencies, done: FinishedRequest[]): number | null =>
  toMicrodollars(
    sumCosts(
      done.map(({ job, offer, files }) => {
        const priced = offerAtAcceptedPrice(services, job, offer);
        const quantity = priced ? calculateDeliveredQuantity(priced, job, files) : null;
        return { price: priced?.price ?? null, quantity };
      }),
    ),
  );

/** What one request to this provider will be paid with, in micro-dollars. */
export function estimateAttemptCost<S>(services: Dependencies, job: Job<S>, choice: SelectedOffer): number | null {
  const offer = offerAtAcceptedPrice(services, job, choice);
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

const BUDGET_LOG_INTERVAL_MS = 60_000;
const MAX_LOGGED_BUDGETS = 10_000;
const loggedAt = new Map<string, number>();

/** A budget that is used up is something to look at: a line in the log, at most once a minute for each. */
export function logExhaustedBudget(
  { log }: Pick<Services, "log">,
  { tenant_id, key_id }: Caller,
  thrown: unknown,
): void {
  if (!(thrown instanceof Fault) || !BUDGET_FAULTS.includes(thrown.code)) return;
  const { limit, of } = thrown.details;
  const budget = [tenant_id, of === "tenant" ? "" : key_id, of, limit].join(" ");
  if (Date.now() - (loggedAt.get(budget) ?? 0) < BUDGET_LOG_INTERVAL_MS) return;
  if (loggedAt.size >= MAX_LOGGED_BUDGETS) loggedAt.clear();
  loggedAt.set(budget, Date.now());
  log.warn({ tenant_id, key_id, limit, of }, "budget exhausted; runs are refused");
}

const BUDGET_FAULTS: string[] = ["insufficient_credits", "spend_limit_reached"];

/** Who a run is counted for. A token with a cap of its own brings it along. */
export async function resolveSpender(services: Pick<Services, "db">, caller: Caller) {
  const { token, key_id, tenant_id, expires_at } = caller;
  if (token?.max_spend === null || token === null) return { key_id };
  const total = toMicrodollars(token.max_spend)!;
  await insertTokenBudget(services.db, tenant_id, { token_id: token.token_id, total, ends_at: expires_at });
  return { key_id, token_id: token.token_id };
}

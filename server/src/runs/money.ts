// What a run will cost and what it did, by the prices that stood when it was accepted: whatever becomes of the catalogue
// meanwhile, nobody pays by a list that was not shown.
import { capToken } from "../db/budgets.ts";
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { FrozenPrice, Job } from "../kit/operation.ts";
import type { Choice, Offer } from "../providers/provider.ts";
import type { Chosen } from "./choose.ts";
import type { House } from "./house.ts";
import { quantityAsked, quantityMade, sumOf } from "./price.ts";

type Providers = Pick<House, "providers">;

/** The books count in whole micro-dollars. */
const MICROS = 1_000_000;
export const microsOf = (dollars: number | null): number | null =>
  dollars === null ? null : Math.round(dollars * MICROS);

/** What everybody who offers this model asks for it now, the one who would be chosen first. */
export function freezePrices({ providers }: Providers, job: Job, first: Chosen): FrozenPrice[] {
  const all = providers.flatMap(({ provider }) =>
    provider.offers
      .filter(
        ({ task, model, lifecycle }) => task === job.task && model === job.model && lifecycle?.state !== "retired",
      )
      .map((offer) => frozen(provider.id, offer)),
  );
  const isFirst = ({ provider, as }: FrozenPrice) => provider === first.live.provider.id && as === first.offer.as;
  return [frozen(first.live.provider.id, first.offer), ...all.filter((price) => !isFirst(price))];
}

const frozen = (provider: string, { as, price, per, limits }: Offer): FrozenPrice => ({
  ...{ provider, as, price },
  ...(per && { per }),
  ...(per === "call" && limits?.count !== undefined && { count: limits.count }),
});

/** The offer with its price at acceptance. Whoever was not there then is paid for as the first choice would have been. */
function offerAtPrice<S>({ providers }: Providers, job: Job<S>, choice: Choice): Offer | undefined {
  const offer = providers
    .find(({ provider }) => provider.id === choice.provider)
    ?.provider.offers.find(({ as, task, model }) => as === choice.as && task === job.task && model === job.model);
  const prices = job.prices ?? [];
  const known = prices.find(({ provider, as }) => provider === choice.provider && as === choice.as) ?? prices[0];
  if (!known) return offer;
  const bare = offer ?? { task: job.task, model: job.model, as: choice.as, recovery: "none" };
  const { price, per = "image", count } = known;
  return { ...bare, price, per, limits: { ...offer?.limits, ...(count !== undefined && { count }) } };
}

type DoneJob = { job: Job; choice: Choice; files: Parameters<typeof quantityMade>[2] };

/** What was made, in micro-dollars. */
export const costOf = (house: Providers, done: DoneJob[]): number | null =>
  microsOf(
    sumOf(
      done.map(({ job, choice, files }) => {
        const offer = offerAtPrice(house, job, choice);
        return { price: offer?.price ?? null, quantity: offer ? quantityMade(offer, job, files) : null };
      }),
    ),
  );

/** What one request to this provider will be paid with, in micro-dollars. */
export function priceOfAttempt<S>(house: Providers, job: Job<S>, choice: Choice): number | null {
  const offer = offerAtPrice(house, job, choice);
  return microsOf(sumOf([{ price: offer?.price ?? null, quantity: offer ? quantityAsked(offer, job as Job) : null }]));
}

/** A caller that names a most is not served at a price that nobody knows. */
export function checkMaxCost(estimate: number | null, maxCost: number | undefined): void {
  if (maxCost === undefined) return;
  if (estimate === null) throw new Fault("spend_limit_reached", { reason: "price_unknown" });
  if (estimate > maxCost) throw new Fault("spend_limit_reached", { reason: "max_cost", estimate, max_cost: maxCost });
}

const TELL_MS = 60_000;
const MOST_TOLD = 10_000;
const toldAt = new Map<string, number>();

/** A budget that is used up is something to look at: a line in the log, at most once a minute for each. */
export function tellSpent({ log }: Pick<House, "log">, { tenant_id, key_id }: Caller, thrown: unknown): void {
  if (!(thrown instanceof Fault) || !SPENT.includes(thrown.code)) return;
  const { limit, of } = thrown.details;
  const budget = [tenant_id, of === "tenant" ? "" : key_id, of, limit].join(" ");
  if (Date.now() - (toldAt.get(budget) ?? 0) < TELL_MS) return;
  if (toldAt.size >= MOST_TOLD) toldAt.clear();
  toldAt.set(budget, Date.now());
  log.warn({ tenant_id, key_id, limit, of }, "a budget is used up; runs are refused");
}

const SPENT: string[] = ["insufficient_credits", "spend_limit_reached"];

/** Who a run is counted for. A token with a cap of its own brings it along. */
export async function spenderOf(house: Pick<House, "db">, caller: Caller) {
  const { token, key_id, tenant_id, expires_at } = caller;
  if (token?.max_spend === null || token === null) return { key_id };
  const total = microsOf(token.max_spend)!;
  await capToken(house.db, tenant_id, { token_id: token.token_id, total, ends_at: expires_at });
  return { key_id, token_id: token.token_id };
}

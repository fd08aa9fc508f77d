// Estimates the cost of a run at the offers that would be selected for it now. An unknown price makes the whole
// estimate unknown; it never counts as zero.

import type { Job, Operation } from "../../contract/operation.ts";
import { parseInput } from "../../contract/parse.ts";
import type { Estimate } from "../../contract/schemas/library.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";
import { type Quote, quoteJob, sumAmounts } from "../../money/billable-quantity.ts";
import { findRunOperation } from "../../operations/all-runs.ts";
import { UNIT_LABELS } from "../../prices/price.ts";
import { mayExceedSourceLimit } from "../../providers/adjust-parameters.ts";
import type { Offer } from "../../providers/provider.ts";
import { describeModels } from "../../providers/resolve-model.ts";
import {
  findBestOffer,
  listOffersAboveLimit,
  type OfferDependencies,
  type ResolvedOffer,
  toSelectedOffer,
} from "../offers/select-offer.ts";
import { expandPlan } from "./expand-plan.ts";
import { checkModelName, type ImportedModelDependencies, requireImportedModel } from "./model-name.ts";

const DEFAULT_PRICE_VERSION = "1";

/** The jobs that the operation would plan for this input of the tenant. */
export async function planOperation(
  services: OfferDependencies & ImportedModelDependencies,
  name: string,
  input: JsonObject,
  tenantId: string,
): Promise<Job[]> {
  const operation = findRunOperation(name);
  if (!operation?.plan) {
    throw validationFault([
      { path: "/operation", code: "unknown_value", message: "There is no operation with this name that has a price." },
    ]);
  }
  return buildPlan(services, operation, input, tenantId);
}

/**
 * Estimates jobs at the offers that would be selected for them now. A model without an enabled offer has an unknown
 * price; that is a valid estimate, not an error.
 */
export const estimateJobs = (services: OfferDependencies, jobs: Job[]): Estimate =>
  estimatePlan(
    expandPlan(services, jobs).plan.map((job) => {
      const best = findBestOffer(services, job);
      return { job, offer: best && offerToReserve(services, job, best) };
    }),
  );

/**
 * The offer whose price is reserved. A source of unknown size may exceed a limit of the selected offer; the next offer
 * then takes the job, so its price is reserved if it is higher. The run is charged for the offer that did the work.
 */
export function offerToReserve(services: OfferDependencies, job: Job, selected: ResolvedOffer): Offer {
  const { offer } = selected;
  if (!mayExceedSourceLimit(offer, job)) return offer;
  const [next] = listOffersAboveLimit(services, toSelectedOffer(selected), job);
  const costAt = (each: Offer) => quoteJob(each, job).amount ?? 0;
  return next && costAt(next.offer) > costAt(offer) ? next.offer : offer;
}

export function estimatePlan(plan: { job: Job; offer: Offer | undefined }[]): Estimate {
  const quotes = plan.map(({ job, offer }) => ({ job, offer, quote: offer && quoteJob(offer, job) }));
  const amount = sumAmounts(quotes.map(({ quote }) => quote?.amount ?? null));
  return {
    ...{ currency: "USD", amount, known: amount !== null },
    at_most: quotes.some(({ quote }) => quote?.isBound),
    basis: quotes.flatMap(({ job, offer, quote }) => estimateLines(job, offer, quote)),
  };
}

/** One line for each unit of the price. A quantity that is known only after the run has no price. */
function estimateLines(job: Job, offer: Offer | undefined, quote: Quote | undefined): Estimate["basis"] {
  const what = `${job.task} ${job.model}`;
  const results = (job.count ?? 1) * (job.request_count ?? 1);
  if (!offer?.price || !quote)
    return [{ what: offer ? `${what}, per image` : what, quantity: results, unit_price: null, price_version: null }];
  const version = offer.price.version ?? offer.price.as_of ?? DEFAULT_PRICE_VERSION;
  return quote.lines.map(({ unit, quantity, usd }) => ({
    what: `${what}, ${UNIT_LABELS[unit]}`,
    quantity: quantity ?? results,
    unit_price: quantity === null && usd > 0 ? null : usd,
    price_version: quantity === null && usd > 0 ? null : version,
  }));
}

/** Parses the input as the operation would. Paths of validation errors point into the estimate request. */
async function buildPlan(
  services: OfferDependencies & ImportedModelDependencies,
  operation: Operation,
  raw: JsonObject,
  tenantId: string,
): Promise<Job[]> {
  try {
    const { input, provided } = parseInput(operation, { ...raw, ...operation.fixedValues }, "json");
    const { routing } = input as Pick<Job, "routing">;
    const imported = await requireImportedModel(services, operation, input, tenantId);
    const plan = operation.plan!(input, provided, { ...describeModels(services.providers.enabled), imported });
    checkModelName(services, operation, input, plan);
    return plan.map((job) => ({ ...job, ...(routing && { routing }) }));
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !Array.isArray(thrown.details.errors)) throw thrown;
    const relocateIssue = (issue: ValidationIssue) => ({
      ...issue,
      path: `/input${issue.path}`,
      code: toValidationCode(issue.code),
    });
    throw validationFault((thrown.details.errors as ValidationIssue[]).map(relocateIssue));
  }
}

/** Within a validation error, an unsupported parameter is an unknown value. */
const toValidationCode = (code: string) => (code === "unsupported_parameter" ? "unknown_value" : code);

const validationFault = (errors: ValidationIssue[]) => new Fault("validation_error", { errors });

// Estimates the cost of a run at the offers that would be selected for it now. An unknown price makes the whole
// estimate unknown; it never counts as zero.
import { Fault, type ValidationIssue } from "../faults.ts";
import type { Job, Operation } from "../kit/operation.ts";
import { parseInput } from "../kit/parse.ts";
import type { Estimate } from "../kit/schemas/library.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { findOperation } from "../operations/all.ts";
import { mayExceedSourceLimit } from "../providers/adjust-parameters.ts";
import type { Offer } from "../providers/provider.ts";
import { calculateRequestedQuantity, sumCosts, UNIT_LABELS } from "./billable-quantity.ts";
import { expandPlan } from "./expand-plan.ts";
import {
  findBestOffer,
  listOffersAboveLimit,
  type OfferDependencies,
  type ResolvedOffer,
  toSelectedOffer,
} from "./select-offer.ts";

const DEFAULT_PRICE_VERSION = "1";

/** The jobs that the operation would plan for this input. */
export function planOperation(name: string, input: JsonObject): Job[] {
  const operation = findOperation(name);
  if (!operation?.plan) {
    throw validationFault([
      { path: "/operation", code: "unknown_value", message: "There is no operation with this name that has a price." },
    ]);
  }
  return buildPlan(operation, input);
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
  const costAt = (each: Offer) => estimatePlan([{ job, offer: each }]).amount ?? 0;
  return next && costAt(next.offer) > costAt(offer) ? next.offer : offer;
}

export function estimatePlan(plan: { job: Job; offer: Offer | undefined }[]): Estimate {
  const lines = plan.map(({ job, offer }) => estimateLine(job, offer));
  const amount = sumCosts(lines.map(({ quantity, unit_price }) => ({ quantity, price: unit_price })));
  return { currency: "USD", amount, known: amount !== null, basis: lines };
}

/** A quantity that is known only after the run has no estimate, so its price counts as unknown. */
function estimateLine(job: Job, offer: Offer | undefined): Estimate["basis"][number] {
  const quantity = offer ? calculateRequestedQuantity(offer, job) : null;
  const price = quantity === null ? null : (offer?.price ?? null);
  return {
    what: `${job.task} ${job.model}${offer ? `, ${UNIT_LABELS[offer.per ?? "image"]}` : ""}`,
    quantity: quantity ?? (job.count ?? 1) * (job.request_count ?? 1),
    unit_price: price,
    price_version: price === null ? null : (offer?.price_version ?? DEFAULT_PRICE_VERSION),
  };
}

/** Parses the input as the operation would. Paths of validation errors point into the estimate request. */
function buildPlan(operation: Operation, raw: JsonObject): Job[] {
  try {
    const { input, provided } = parseInput(operation, { ...raw, ...operation.fixedValues }, "json");
    const { routing } = input as Pick<Job, "routing">;
    return operation.plan!(input, provided).map((job) => ({ ...job, ...(routing && { routing }) }));
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

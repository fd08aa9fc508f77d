// What a run would cost, from the offers that would be chosen for it now. An unknown price makes the sum unknown; it is
// never taken for nothing.
import { Fault, type ValidationIssue } from "../faults.ts";
import type { Job, Operation } from "../kit/operation.ts";
import { parseInput } from "../kit/parse.ts";
import type { Estimate } from "../kit/schemas/library.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { findOperation } from "../operations/all.ts";
import type { Offer } from "../providers/provider.ts";
import { calculateRequestedQuantity, sumCosts, UNIT_LABELS } from "./billable-quantity.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";

const DEFAULT_PRICE_VERSION = "1";

type Dependencies = Pick<Services, "providers">;

export function estimateOperation(services: Dependencies, name: string, input: JsonObject): Estimate {
  const operation = findOperation(name);
  if (!operation?.plan) {
    throw validationFault([
      { path: "/operation", code: "unknown_value", message: "No operation of this name has a price." },
    ]);
  }
  return estimatePlan(buildPlan(operation, input).map((job) => ({ job, offer: findOffer(services, job) })));
}

export function estimatePlan(plan: { job: Job; offer: Offer | undefined }[]): Estimate {
  const lines = plan.map(({ job, offer }) => estimateLine(job, offer));
  const amount = sumCosts(lines.map(({ quantity, unit_price }) => ({ quantity, price: unit_price })));
  return { currency: "USD", amount, known: amount !== null, basis: lines };
}

/** A quantity that only the end will tell is as good as no price. */
function estimateLine(job: Job, offer: Offer | undefined): Estimate["basis"][number] {
  const quantity = offer ? calculateRequestedQuantity(offer, job) : null;
  const price = quantity === null ? null : (offer?.price ?? null);
  return {
    what: `${job.task} ${job.model}${offer ? `, ${UNIT_LABELS[offer.per ?? "image"]}` : ""}`,
    quantity: quantity ?? job.count ?? 1,
    unit_price: price,
    price_version: price === null ? null : (offer?.price_version ?? DEFAULT_PRICE_VERSION),
  };
}

/** Read as the operation itself would read it; misfits are told by their place in what was sent here. */
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

/** A parameter that a model does not take is, in a validation, a value that is not taken. */
const toValidationCode = (code: string) => (code === "unsupported_parameter" ? "unknown_value" : code);

const validationFault = (errors: ValidationIssue[]) => new Fault("validation_error", { errors });

/** A model that nobody offers at the moment has no price; that is an answer, not a failure. */
function findOffer(services: Dependencies, job: Job): Offer | undefined {
  try {
    return resolveOffer(services, selectOffer(services, job), job).offer;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "model_unavailable") return undefined;
    throw thrown;
  }
}

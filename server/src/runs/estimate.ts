// What a run would cost, from the offers that would be chosen for it now. An unknown price makes the sum unknown; it is
// never taken for nothing.
import { Fault, type Issue } from "../faults.ts";
import type { Job, Operation } from "../kit/operation.ts";
import { parseInput } from "../kit/parse.ts";
import type { Json } from "../kit/shapes.ts";
import type { Estimate } from "../kit/shapes-library.ts";
import { operationNamed } from "../operations/all.ts";
import type { Offer } from "../providers/provider.ts";
import { chooseOffer, chosen } from "./choose.ts";
import type { House } from "./house.ts";
import { quantityAsked, sumOf, UNITS } from "./price.ts";

const FIRST_PRICES = "1";

type Providers = Pick<House, "providers">;

export function estimateRun(house: Providers, name: string, input: Json): Estimate {
  const operation = operationNamed(name);
  if (!operation?.plan) {
    throw refusal([{ path: "/operation", code: "unknown_value", message: "No operation of this name has a price." }]);
  }
  return estimateOf(planOf(operation, input).map((job) => ({ job, offer: offerFor(house, job) })));
}

export function estimateOf(plan: { job: Job; offer: Offer | undefined }[]): Estimate {
  const lines = plan.map(({ job, offer }) => lineOf(job, offer));
  const amount = sumOf(lines.map(({ quantity, unit_price }) => ({ quantity, price: unit_price })));
  return { currency: "USD", amount, known: amount !== null, basis: lines };
}

/** A quantity that only the end will tell is as good as no price. */
function lineOf(job: Job, offer: Offer | undefined): Estimate["basis"][number] {
  const quantity = offer ? quantityAsked(offer, job) : null;
  const price = quantity === null ? null : (offer?.price ?? null);
  return {
    what: `${job.task} ${job.model}${offer ? `, ${UNITS[offer.per ?? "image"]}` : ""}`,
    quantity: quantity ?? job.count ?? 1,
    unit_price: price,
    price_version: price === null ? null : (offer?.price_version ?? FIRST_PRICES),
  };
}

/** Read as the operation itself would read it; misfits are told by their place in what was sent here. */
function planOf(operation: Operation, raw: Json): Job[] {
  try {
    const { input, given } = parseInput(operation, { ...raw, ...operation.sets }, "json");
    const { routing } = input as Pick<Job, "routing">;
    return operation.plan!(input, given).map((job) => ({ ...job, ...(routing && { routing }) }));
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !Array.isArray(thrown.details.errors)) throw thrown;
    const told = (issue: Issue) => ({ ...issue, path: `/input${issue.path}`, code: inValidation(issue.code) });
    throw refusal((thrown.details.errors as Issue[]).map(told));
  }
}

/** A parameter that a model does not take is, in a validation, a value that is not taken. */
const inValidation = (code: string) => (code === "unsupported_parameter" ? "unknown_value" : code);

const refusal = (errors: Issue[]) => new Fault("validation_error", { errors });

/** A model that nobody offers at the moment has no price; that is an answer, not a failure. */
function offerFor(house: Providers, job: Job): Offer | undefined {
  try {
    return chosen(house, chooseOffer(house, job), job).offer;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "model_unavailable") return undefined;
    throw thrown;
  }
}

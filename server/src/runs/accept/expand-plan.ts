// Completes the plan of an operation with the jobs that the enabled offers make necessary: `upscale_factor` of a model
// that cannot enlarge becomes a second job, and a removal by prompt can be served by erasers (find-and-erase.ts). Every
// job is planned when the run is accepted, so it has a price in the estimate.

import type { Job, ParameterAdjustment, SourceSize } from "../../contract/operation.ts";
import { withJobParameter } from "../../contract/task-parameters.ts";
import { planUpscale, upscaleStepFor } from "../../contract/upscale-jobs.ts";
import { isStorableSize } from "../../files/formats/image-size.ts";
import { expectedSize } from "../../money/billable-quantity.ts";
import { adjustParameters } from "../../providers/adjust-parameters.ts";
import type { Offer } from "../../providers/provider.ts";
import { costOfPlan } from "../offers/plan-cost.ts";
import { findBestOffer, type OfferDependencies } from "../offers/select-offer.ts";
import { isRemovalByPrompt, routeRemoval } from "./find-and-erase.ts";

/** `adjustments`: what the caller asked for and no route of this installation can do. */
export type ExpandedPlan = { plan: Job[]; adjustments: ParameterAdjustment[] };

/** Jobs with known source sizes in, so that the added jobs have them too. */
export function expandPlan(services: OfferDependencies, plan: Job[]): ExpandedPlan {
  const [job] = plan;
  if (plan.length === 1 && job?.options?.upscale_factor !== undefined) return expandUpscale(services, job);
  if (plan.length === 1 && job && isRemovalByPrompt(job)) return routeRemoval(services, job);
  return { plan, adjustments: [] };
}

function expandUpscale(services: OfferDependencies, job: Job): ExpandedPlan {
  const bare = withJobParameter(job, "upscale_factor", undefined);
  const offer = findBestOffer(services, bare)?.offer;
  const requested = Number(job.options?.upscale_factor);
  const enlarged = (factor: number) => withJobParameter(job, "upscale_factor", factor);
  const isNative = offer !== undefined && findBestOffer(services, job)?.offer === offer;
  const size = offer && expectedSize(adjustParameters(bare, offer).job);
  const factor = limitFactor(requested, size, isNative);
  const adjustments = factor === requested ? [] : [limited(requested, factor)];
  if (factor === 1) return { plan: [bare], adjustments };

  const native = [enlarged(factor)];
  const added = linkSizes(
    planUpscale(0, factor, bare.count).map((each) => ({ ...each, ...inheritedFrom(job) })),
    size,
  );
  const inSeveralJobs = [bare, ...added];
  const isPossibleInSeveral =
    limitFactor(requested, size, false) === factor && added.every((each) => findBestOffer(services, each));
  if (job.routing === "cheapest" && isPossibleInSeveral && isEquivalent(offer, findBestOffer(services, job)?.offer)) {
    const saving = costOfPlan(services, inSeveralJobs) - costOfPlan(services, native);
    if (saving !== 0) return { plan: saving > 0 ? native : inSeveralJobs, adjustments };
  }
  if (isNative) return { plan: native, adjustments };
  if (isPossibleInSeveral) return { plan: inSeveralJobs, adjustments };
  // No offer enlarges in a job of its own: an offer that is not the preferred one may do it natively.
  if (findBestOffer(services, job)) return { plan: native, adjustments };
  return { plan: [bare], adjustments: [ignored(requested)] };
}

/** Whether `routing` may take one offer for the other. */
const isEquivalent = (one: Offer | undefined, other: Offer | undefined): boolean =>
  one !== undefined && (one === other || (one.equivalence !== undefined && one.equivalence === other?.equivalence));

const inheritedFrom = ({ routing, is_strict }: Job) => ({
  ...(routing && { routing }),
  ...(is_strict && { is_strict }),
});

/** Each job works on the results of the one before. */
function linkSizes(jobs: Job[], first: SourceSize | undefined): Job[] {
  let size = first;
  return jobs.map((job) => {
    const linked = size ? { ...job, source_size: size } : job;
    size = expectedSize(linked);
    return linked;
  });
}

/** The factor whose results, also those between two jobs, are small enough to be stored. */
function limitFactor(factor: number, size: SourceSize | undefined, isNative: boolean): number {
  const fits = (each: number) => !size || isStorableSize({ width: size.width * each, height: size.height * each });
  const candidates = isNative ? [factor, 3, 2] : [factor, 2];
  const fitting = candidates.find((each) => each <= factor && fits(isNative ? each : upscaleStepFor(each)));
  return fitting ?? 1;
}

const limited = (given: number, used: number): ParameterAdjustment => ({
  field: "upscale_factor",
  given,
  used,
  message: `upscale_factor was adjusted from ${given} to ${used}: an image has at most 50 megapixels and 16,384 pixels per side.`,
});

const ignored = (given: number): ParameterAdjustment => ({
  field: "upscale_factor",
  given,
  used: undefined,
  message: `upscale_factor is not supported by this model, and no enabled provider offers image.upscale: ${given} was ignored.`,
});

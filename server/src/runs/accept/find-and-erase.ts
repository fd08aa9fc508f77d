// Removal by prompt as two jobs: a segmentation finds the object, and an eraser fills the found area. Erasers need a
// mask, so without this route only offers that find objects themselves could serve a prompt.
import { DEFAULT_MODELS } from "../../contract/models.ts";
import type { Job, ParameterAdjustment } from "../../contract/operation.ts";
import { costOfPlan } from "../offers/plan-cost.ts";
import { findBestOffer, type OfferDependencies } from "../offers/select-offer.ts";

/** Margin around a found object for `remove_shadow`, as a share of the longer side. Covers a shadow at the object. */
const SHADOW_MARGIN = 0.03;

type Route = { plan: Job[]; adjustments: ParameterAdjustment[] };

/** A model that the request names does the work alone. */
export const isRemovalByPrompt = ({ task, model, prompt, mask }: Job): boolean =>
  task === "image.remove" && model === DEFAULT_MODELS["image.remove"] && prompt !== undefined && mask === undefined;

/**
 * The cheaper of two routes: one job for an offer that finds and removes, or find and erase. An unknown price is the
 * most expensive one. With equal prices, for the fastest route, and if find and erase would change a parameter of a job
 * with strict handling, it is the one job.
 */
export function routeRemoval(services: OfferDependencies, job: Job): Route {
  const direct: Route = { plan: [job], adjustments: [] };
  const indirect = planFindAndErase(job);
  if (indirect.plan.some((each) => !findBestOffer(services, each))) return direct;
  if (!findBestOffer(services, job)) return indirect;
  if (job.routing === "fastest" || (job.is_strict && indirect.adjustments.length > 0)) return direct;
  return costOfPlan(services, indirect.plan) < costOfPlan(services, direct.plan) ? indirect : direct;
}

function planFindAndErase(job: Job): Route {
  const { prompt, images = [], source_size, routing, is_strict, options, defaulted } = job;
  const common = {
    ...(source_size && { source_size }),
    ...(routing && { routing }),
    ...(is_strict && { is_strict }),
  };
  const isMultiple = options?.multiple === true;
  const hasShadow = options?.remove_shadow === true;
  const found = {
    mask: { job: 0, every: true as const },
    ...(hasShadow && { mask_margin: SHADOW_MARGIN }),
  };
  const plan: Job[] = [
    {
      ...{ task: "image.segment", model: DEFAULT_MODELS["image.segment"], prompt, images, ...common },
      ...{ count: isMultiple ? undefined : 1, options: { multiple: isMultiple } },
      ...(defaulted && { defaulted }),
    },
    { task: "image.remove", model: DEFAULT_MODELS["image.remove"], images, ...found, ...common },
    // Pixels outside of the found area stay as they were.
    { task: "image.blend", model: "local", images: [...images, { job: 1, every: true }], ...found, ...common },
  ];
  const isReported = hasShadow && !defaulted?.includes("remove_shadow");
  return { plan, adjustments: isReported ? [shadowByMargin] : [] };
}

const shadowByMargin: ParameterAdjustment = {
  field: "remove_shadow",
  given: true,
  used: `a margin of ${SHADOW_MARGIN * 100} %`,
  message: `remove_shadow was adjusted from true to a margin of ${SHADOW_MARGIN * 100} % around the object: a longer shadow can stay.`,
};

// The offers of OpenAI. It retires its models within one or two years.
import type { Task } from "../../contract/operation.ts";
import { SAMPLING_PARAMETERS, WEIGHT_PARAMETERS } from "../../contract/task-parameters.ts";
import { DESCRIBE_PARAMETERS, ENHANCE_PARAMETERS } from "../language/language-tasks.ts";
import { asSize, declareParameters, unlessWith } from "../parameter-support.ts";
import type { Offer, OfferLimits, OfferParameters } from "../provider.ts";
import { type OfferSpec, withPublishedPrices } from "../with-published-prices.ts";

const ANY_SIZE: OfferLimits = {
  sides: { most: 3840, step: 16, leastPixels: 655_360, mostPixels: 8_294_400, mostRatio: 3 },
};
const THREE_SIZES: OfferLimits = { sizes: ["1024x1024", "1536x1024", "1024x1536"] };
const IMAGE_LIMITS: OfferLimits = { count: 4, images: 16, mask: true, prompt: 32_000 };

/** The Images API has no seed and no negative prompt. With a mask, the result has the shape of the image. */
const GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "images", "width", "height", "count"],
  adapts: { aspect_ratio: asSize },
  ignores: [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "negative_prompt", "seed", "upscale_factor"],
});
const EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "mask", "count"],
  adapts: { aspect_ratio: unlessWith("mask", asSize) },
  ignores: ["seed"],
});

/** The Images API fills a masked area as a prompt says, so removing is an edit with a prompt of ours. */
const REMOVE = declareParameters("image.remove", {
  honours: ["images", "mask"],
  ignores: ["prompt", "remove_shadow", "multiple"],
});

type ImageOfferSpec = { task: Task; model: string; preference: number; equivalence: string };

const imageOffer = (upstreamModel: string, sizes: OfferLimits, row: ImageOfferSpec): OfferSpec => ({
  ...row,
  upstreamModel,
  recovery: "none",
  latency: "usual",
  synchronousSeconds: 300,
  limits: { ...IMAGE_LIMITS, ...sizes },
  ...(upstreamModel === PREVIOUS_MODEL && {
    lifecycle: { state: "deprecated", successor: CURRENT_MODEL },
  }),
  parameters: row.task === "image.edit" ? EDIT : GENERATE,
});
const textOffer = (task: Task, equivalence: string, parameters: OfferParameters): OfferSpec => ({
  task,
  model: `${equivalence}-default`,
  upstreamModel: "gpt-5.6-luna",
  recovery: "none",
  latency: "quick",
  synchronousSeconds: 120,
  preference: 50,
  parameters,
  equivalence,
});

const vendora = (task: Task, preference: number, equivalence = "gpt-image") => ({
  ...{ task, model: "vendora", preference, equivalence },
});
const CURRENT_MODEL = "gpt-image-2.5-flare";
/** Made for edits; its tokens cost as much. */
const EDITING_MODEL = "gpt-image-2.5-sunburst";
const PREVIOUS_MODEL = "gpt-image-1.5";
export const openaiOffers: Offer[] = withPublishedPrices("openai", [
  imageOffer(CURRENT_MODEL, ANY_SIZE, vendora("image.generate", 40)),
  imageOffer(PREVIOUS_MODEL, THREE_SIZES, vendora("image.generate", 60, PREVIOUS_MODEL)),
  imageOffer(CURRENT_MODEL, ANY_SIZE, vendora("image.edit", 40)),
  imageOffer(EDITING_MODEL, ANY_SIZE, vendora("image.edit", 50)),
  imageOffer(PREVIOUS_MODEL, THREE_SIZES, vendora("image.edit", 60, PREVIOUS_MODEL)),
  imageOffer(CURRENT_MODEL, ANY_SIZE, {
    task: "image.edit",
    model: "edit-default",
    preference: 60,
    equivalence: "mask-fill",
  }),
  {
    ...imageOffer(CURRENT_MODEL, ANY_SIZE, {
      task: "image.remove",
      model: "remove-default",
      preference: 70,
      equivalence: "object-removal",
    }),
    limits: { ...IMAGE_LIMITS, ...ANY_SIZE, count: 1, images: 1 },
    parameters: REMOVE,
    supports: ({ mask }) => mask !== undefined,
  },
  textOffer("image.describe", "describe", DESCRIBE_PARAMETERS),
  textOffer("prompt.enhance", "enhance", ENHANCE_PARAMETERS),
]);

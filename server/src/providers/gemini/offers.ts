// The offers of the Gemini API. The models that our model names refer to are retired; their successor serves all of
// them.
import type { Task } from "../../contract/operation.ts";
import { SAMPLING_PARAMETERS, WEIGHT_PARAMETERS } from "../../contract/task-parameters.ts";
import { DESCRIBE_PARAMETERS, ENHANCE_PARAMETERS } from "../language/language-tasks.ts";
import { asAspectRatio, declareParameters, replacing, seedBelow } from "../parameter-support.ts";
import type { Offer, OfferParameters } from "../provider.ts";
import { type OfferSpec, withPublishedPrices } from "../with-published-prices.ts";

const RATIOS = [
  ...["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
  ...["1:4", "4:1", "1:8", "8:1"],
];

const RESOLUTIONS = { "1K": 1024 * 1024, "2K": 2048 * 2048, "4K": 4096 * 4096 };

/** The model keeps to a seed as far as it can. */
const SEED = seedBelow(2 ** 31);

/** Masks and negative prompts are explained in the prompt. */
const GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "negative_prompt", "images", "aspect_ratio", "count"],
  adapts: { width: asAspectRatio, height: asAspectRatio, seed: SEED },
  ignores: [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "upscale_factor"],
});
const EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "mask", "aspect_ratio", "count"],
  adapts: { seed: SEED },
});

type ImageOfferSpec = Pick<Offer, "task" | "model" | "parameters"> & Partial<OfferSpec>;

const imageOffer = (spec: ImageOfferSpec): OfferSpec => ({
  upstreamModel: "gemini-nano-banana-2.1",
  recovery: "none",
  latency: "usual",
  synchronousSeconds: 180,
  preference: 40,
  // The model takes 14 images, including the mask.
  limits: { ratios: RATIOS, resolutions: RESOLUTIONS, count: 1, images: 13, mask: true },
  equivalence: "nano-banana",
  ...spec,
});
const textOffer = (task: Task, equivalence: string, parameters: OfferParameters): OfferSpec => ({
  task,
  model: `${equivalence}-default`,
  upstreamModel: "gemini-3.8-flash",
  recovery: "none",
  latency: "quick",
  synchronousSeconds: 120,
  preference: 40,
  parameters,
  equivalence,
});

/** The model has no tags, so the prompt is rewritten. The result can differ, so there is no failover group. */
const { equivalence: _, ...byTags } = imageOffer({
  task: "image.reference",
  model: "reference-default",
  preference: 60,
  parameters: declareParameters("image.reference", {
    honours: ["prompt", "images", "tags", "aspect_ratio"],
    adapts: { resolution: replacing({ "720p": "1K", "1080p": "2K" }) },
  }),
});

export const geminiOffers: Offer[] = withPublishedPrices("gemini", [
  imageOffer({ task: "image.generate", model: "nanobanana", parameters: GENERATE }),
  imageOffer({ task: "image.generate", model: "gemini-2.5", parameters: GENERATE }),
  imageOffer({ task: "image.generate", model: "vendorb-imagen4", parameters: GENERATE }),
  imageOffer({ task: "image.edit", model: "nanobanana", parameters: EDIT }),
  imageOffer({ task: "image.edit", model: "gemini-2.5", parameters: EDIT }),
  byTags,
  textOffer("image.describe", "describe", DESCRIBE_PARAMETERS),
  textOffer("prompt.enhance", "enhance", ENHANCE_PARAMETERS),
]);

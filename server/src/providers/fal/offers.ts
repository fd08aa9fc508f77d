// The offers of fal, one per endpoint. If two offers have the same task and model, `supports` decides which one gets a
// job. Most are rows (rows.ts); those whose body is more than names and constants build it here.
import type { Job } from "../../contract/operation.ts";
import { buildInstruction, ENHANCE_PARAMETERS } from "../language/language-tasks.ts";
import { maskedFirst, offerFromRow } from "../offer-row.ts";
import { adaptedBy, declareParameters } from "../parameter-support.ts";
import type { Asset, Offer, RowNotation } from "../provider.ts";
import { withPublishedPrices } from "../with-published-prices.ts";
import { characterOffers } from "./character-offers.ts";
import { deferredImage, deferredImages, lora, setting } from "./deferred-values.ts";
import { FAL_RECOVERY, falOffer, hasImages, option } from "./fields.ts";
import { falRows, NANO_RATIOS, NANO_RESOLUTIONS } from "./rows.ts";

const wantsSeveral = (options: Job["options"]) => options?.multiple === true;
const MAX_MASKS = 10;
/** The model has no mask field, but understands a mask as an additional image. */
const MASK_INSTRUCTION = "The last image is a mask: change only what is white in it, and leave all else as it is.";
/** Margin around the removed object in pixels, which includes the start of its shadow. */
const WITH_SHADOW = 40;

const removalPrompt = (job: Job<Asset>) =>
  [job.prompt, option(job, "multiple") && "all of them", option(job, "remove_shadow") && "and the shadow"]
    .filter(Boolean)
    .join(", ");

const imageOffers = [
  falOffer({
    task: "image.segment",
    model: "segment-default",
    upstreamModel: "fal-ai/sam-3/image",
    preference: 40,
    latency: "quick",
    equivalence: "text-segmentation",
    limits: { images: 1, mask: false },
    parameters: declareParameters("image.segment", { honours: ["prompt", "images", "count", "multiple"] }),
    // The endpoint needs an explicit prompt and an explicit request for masks; its defaults are example values.
    body: (job) => ({
      image_url: deferredImage(job.images?.[0]),
      prompt: job.prompt ?? "",
      apply_mask: false,
      include_scores: true,
      include_boxes: true,
      output_format: "png",
      ...(wantsSeveral(job.options) && { return_multiple_masks: true, max_masks: job.count ?? MAX_MASKS }),
    }),
  }),
  falOffer({
    task: "image.edit",
    model: "gemini-2.5",
    upstreamModel: "google/nano-banana-2.1/edit",
    preference: 50,
    equivalence: "nano-banana",
    limits: { ratios: NANO_RATIOS, resolutions: NANO_RESOLUTIONS, count: 1, images: 13, mask: true },
    parameters: declareParameters("image.edit", {
      honours: ["prompt", "images", "mask", "aspect_ratio", "seed", "count"],
    }),
    body: (job) => ({
      prompt: job.prompt,
      seed: job.seed,
      aspect_ratio: job.aspect_ratio,
      resolution: option(job, "resolution"),
      output_format: "png",
      ...(job.mask && { prompt: `${job.prompt}\n${MASK_INSTRUCTION}` }),
      image_urls: deferredImages([...maskedFirst(job), ...(job.mask ? [job.mask] : [])]),
    }),
  }),
  falOffer({
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "fal-ai/object-removal",
    preference: 40,
    equivalence: "object-removal",
    limits: { count: 1, images: 1, mask: false },
    parameters: declareParameters("image.remove", {
      honours: ["prompt", "images", "remove_shadow", "multiple"],
      excludes: ["mask"],
    }),
    supports: ({ mask }) => mask === undefined,
    body: (job) => ({
      image_url: deferredImage(job.images?.[0]),
      prompt: removalPrompt(job),
      ...(option(job, "remove_shadow") === true && { mask_expansion: WITH_SHADOW }),
    }),
  }),
];

const enhanceOffer = falOffer({
  task: "prompt.enhance",
  model: "enhance-default",
  upstreamModel: "openrouter/router",
  preference: 60,
  latency: "quick",
  equivalence: "enhance",
  parameters: ENHANCE_PARAMETERS,
  body: (job) => ({
    model: setting("FAL_TEXT_MODEL"),
    prompt: job.prompt,
    system_prompt: buildInstruction(job).instruction,
  }),
});

const FRAMES = { least: 17, most: 161 };
const SPEED = { least: 4, usual: 24, most: 60 };
const DEFAULT_SECONDS = 3;

/**
 * The endpoint has a number of frames instead of a duration. The duration has priority, so a long video has a lower
 * frame rate and a short one a higher one.
 */
function frameRateWithin(requested: unknown, { options }: Pick<Job, "options">): number {
  const seconds = Number(options?.duration ?? DEFAULT_SECONDS);
  const least = Math.max(SPEED.least, Math.ceil((FRAMES.least - 1) / seconds));
  const most = Math.min(SPEED.most, Math.floor((FRAMES.most - 1) / seconds));
  return Math.min(most, Math.max(least, Number(requested)));
}

function framesOf(job: Job<Asset>) {
  const frames_per_second = frameRateWithin(option(job, "fps") ?? SPEED.usual, job);
  const seconds = Number(option(job, "duration") ?? DEFAULT_SECONDS);
  return { frames_per_second, num_frames: Math.round(seconds * frames_per_second) + 1 };
}

const videoOffer = falOffer({
  task: "video.generate",
  model: "video-default",
  upstreamModel: "fal-ai/wan/v2.2-5b/image-to-video",
  preference: 40,
  latency: "slow",
  limits: { ratios: ["16:9", "9:16", "1:1"], duration: { least: 1, most: 10 }, count: 1, images: 1, mask: false },
  parameters: declareParameters("video.generate", {
    honours: ["prompt", "negative_prompt", "images", "aspect_ratio", "seed", "duration", "cfg_scale"],
    adapts: { fps: adaptedBy("4 to 60, with 17 to 161 frames in the whole video", frameRateWithin) },
    ignores: ["motion_bucket_id"],
  }),
  supports: hasImages,
  body: (job) => ({
    image_url: deferredImage(job.images?.[0]),
    prompt: job.prompt ?? "",
    negative_prompt: job.negative_prompt,
    aspect_ratio: job.aspect_ratio,
    seed: job.seed,
    guidance_scale: option(job, "cfg_scale"),
    ...framesOf(job),
  }),
});

export const FAL_NOTATION: RowNotation = { recovery: FAL_RECOVERY, place: deferredImage, lora };

export const falOffers: Offer[] = withPublishedPrices("fal", [
  ...falRows.map((row) => offerFromRow(row, FAL_NOTATION)),
  ...imageOffers,
  ...characterOffers,
  enhanceOffer,
  videoOffer,
]);

// The offers of fal, one per endpoint. If two offers have the same task and model, `supports` decides which one gets a
// job. Field names differ between endpoints, so each offer builds its own body.
import type { Job } from "../../contract/operation.ts";
import { buildInstruction, ENHANCE_PARAMETERS } from "../language/language-tasks.ts";
import { adaptedBy, declareParameters } from "../parameter-support.ts";
import type { Asset, Offer } from "../provider.ts";
import { withPublishedPrices } from "../with-published-prices.ts";
import { characterOffers } from "./character-offers.ts";
import { deferredImage, setting } from "./deferred-values.ts";
import { editOffers } from "./edit-offers.ts";
import { falOffer, option } from "./fields.ts";
import { generateOffers } from "./generate-offers.ts";

const wantsSeveral = (options: Job["options"]) => options?.multiple === true;
const MAX_MASKS = 10;
const SEGMENT = { task: "image.segment", model: "segment-default", equivalence: "text-segmentation" } as const;

const visionOffers = [
  falOffer({
    ...SEGMENT,
    upstreamModel: "fal-ai/sam-3/image",
    preference: 40,
    latency: "quick",
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
    ...SEGMENT,
    upstreamModel: "fal-ai/evf-sam",
    preference: 50,
    latency: "quick",
    limits: { count: 1, images: 1, mask: false },
    parameters: declareParameters("image.segment", { honours: ["prompt", "images", "count"], excludes: ["multiple"] }),
    supports: ({ options }) => !wantsSeveral(options),
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), prompt: job.prompt ?? "", mask_only: true }),
  }),
  falOffer({
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "fal-ai/birefnet/v2",
    preference: 40,
    latency: "quick",
    equivalence: "remove-background",
    limits: { count: 1, images: 1, mask: false },
    parameters: declareParameters("image.remove-background", { honours: ["images"] }),
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), model: "General Use (Heavy)", output_format: "png" }),
  }),
  falOffer({
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "fal-ai/esrgan",
    preference: 40,
    latency: "quick",
    equivalence: "upscale",
    limits: { count: 1, images: 1, mask: false },
    parameters: declareParameters("image.upscale", { honours: ["images", "factor"] }),
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), scale: option(job, "factor"), output_format: "png" }),
  }),
];

const textOffers = [
  falOffer({
    task: "image.describe",
    model: "describe-default",
    upstreamModel: "fal-ai/moondream3-preview/caption",
    preference: 60,
    latency: "quick",
    equivalence: "describe",
    limits: { images: 1, mask: false },
    parameters: declareParameters("image.describe", { honours: ["images", "detail"], ignores: ["language"] }),
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), length: option(job, "detail") }),
  }),
  falOffer({
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
  }),
];

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

export const falOffers: Offer[] = withPublishedPrices("fal", [
  ...generateOffers,
  ...editOffers,
  ...characterOffers,
  ...visionOffers,
  ...textOffers,
  videoOffer,
]);

// The offers of Runway. Its `ratio` is a size in pixels, with a different list for each model. A credit costs one cent.
import type { Job } from "../../contract/operation.ts";
import { SAMPLING_PARAMETERS, WEIGHT_PARAMETERS } from "../../contract/task-parameters.ts";
import { asSize, declareParameters } from "../parameter-support.ts";
import type { Asset, Offer, OfferParameters } from "../provider.ts";
import { type OfferSpec, withPublishedPrices } from "../with-published-prices.ts";

const IMAGE_SIZES: Record<string, Record<string, string>> = {
  "720p": {
    "16:9": "1280:720",
    "9:16": "720:1280",
    "1:1": "720:720",
    "4:3": "960:720",
    "3:4": "720:960",
    "21:9": "1680:720",
  },
  "1080p": {
    "16:9": "1920:1080",
    "9:16": "1080:1920",
    "1:1": "1080:1080",
    "4:3": "1440:1080",
    "3:4": "1080:1440",
    "21:9": "2112:912",
  },
};
const VIDEO_SIZES: Record<string, string> = {
  "16:9": "1280:720",
  "9:16": "720:1280",
  "4:3": "1104:832",
  "3:4": "832:1104",
  "1:1": "960:960",
  "21:9": "1584:672",
};
const GPT_SIZES = [
  ...["1920x1920", "1920x1088", "1088x1920", "1920x1440", "1440x1920"],
  ...["1920x1280", "1280x1920", "1920x1536", "1536x1920", "2048x880"],
];
const SECONDS = [2, 3, 4, 5, 6, 7, 8, 9, 10];
/** In UTF-16 code units. */
const MAX_PROMPT_LENGTH = 1000;
const DEFAULT_RATIO = "16:9";

export const endpointPath = ({ task }: Offer) =>
  task === "video.generate" ? "/v1/image_to_video" : "/v1/text_to_image";

const videoShape = ({ aspect_ratio = DEFAULT_RATIO, options }: Job<Asset>) => ({
  ratio: VIDEO_SIZES[aspect_ratio] ?? VIDEO_SIZES[DEFAULT_RATIO],
  duration: options?.duration,
});

/** A lost task cannot be looked up, because Runway stores no key of ours. */
const offer = (spec: Omit<OfferSpec, "recovery">): OfferSpec => ({ recovery: "none", ...spec });

/** Runway makes videos from text at another endpoint. */
const startsWithImage: Offer["supports"] = ({ images }) => images !== undefined;

/** Runway hosts Google's models with lengths and shapes of their own. Sound doubles the price, so it is left out. */
const VEO_SIZES: Record<string, string> = { "16:9": "1280:720", "9:16": "720:1280" };
const veo = (upstreamModel: string, preference: number): OfferSpec =>
  offer({
    task: "video.generate",
    model: "video-default",
    upstreamModel,
    preference,
    latency: "slow",
    limits: {
      ratios: Object.keys(VEO_SIZES),
      durations: [4, 6, 8],
      ...{ images: 1, count: 1, prompt: MAX_PROMPT_LENGTH },
    },
    parameters: declareParameters("video.generate", {
      honours: ["prompt", "negative_prompt", "images", "aspect_ratio", "seed", "duration"],
      ignores: ["fps", "cfg_scale", "motion_bucket_id"],
    }),
    supports: startsWithImage,
    body: ({ aspect_ratio = DEFAULT_RATIO, negative_prompt, options }) => ({
      ratio: VEO_SIZES[aspect_ratio] ?? VEO_SIZES[DEFAULT_RATIO],
      duration: options?.duration,
      negativePrompt: negative_prompt,
      audio: false,
    }),
  });

const video = (spec: Pick<Offer, "upstreamModel" | "preference" | "body">): OfferSpec =>
  offer({
    task: "video.generate",
    model: "video-default",
    latency: "slow",
    limits: { ratios: Object.keys(VIDEO_SIZES), durations: SECONDS, images: 1, count: 1, prompt: MAX_PROMPT_LENGTH },
    parameters: declareParameters("video.generate", {
      honours: ["prompt", "images", "aspect_ratio", "seed", "duration"],
      ignores: ["negative_prompt", "fps", "cfg_scale", "motion_bucket_id"],
    }),
    supports: startsWithImage,
    body: videoShape,
    ...spec,
  });

/** The model has no seed. */
const GPT_GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "images", "width", "height", "count"],
  adapts: { aspect_ratio: asSize },
  ignores: [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "negative_prompt", "seed", "upscale_factor"],
});
const GPT_EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "count"],
  adapts: { aspect_ratio: asSize },
  ignores: ["seed"],
  excludes: ["mask"],
});

const gpt = (upstreamModel: string, preference: number) => (task: Offer["task"], parameters: OfferParameters) =>
  offer({
    task,
    model: "vendora",
    upstreamModel,
    preference,
    equivalence: "gpt-image",
    latency: "slow",
    limits: { sizes: GPT_SIZES, images: 16, count: 10, mask: false, prompt: 32_000 },
    parameters,
    body: ({ width, height, count }) => ({
      ratio: width && height ? `${width}:${height}` : "auto",
      outputCount: count,
    }),
  });

const [gpt2, gpt25] = [gpt("gpt_image_2", 60), gpt("gpt_image_2_5_flare", 55)];

const reference = (spec: Pick<Offer, "upstreamModel" | "preference" | "equivalence" | "supports">): OfferSpec =>
  offer({
    task: "image.reference",
    model: "reference-default",
    limits: { ratios: Object.keys(VIDEO_SIZES), images: 3, count: 1, prompt: MAX_PROMPT_LENGTH },
    parameters: declareParameters("image.reference", {
      honours: ["prompt", "images", "tags", "aspect_ratio", "resolution"],
    }),
    body: ({ aspect_ratio = DEFAULT_RATIO, options }) => ({
      ratio:
        IMAGE_SIZES[String(options?.resolution ?? "1080p")]?.[aspect_ratio] ?? IMAGE_SIZES["1080p"]?.[DEFAULT_RATIO],
    }),
    ...spec,
  });

export const runwayOffers: Offer[] = withPublishedPrices("runway", [
  reference({ upstreamModel: "gen4_image", preference: 40, equivalence: "gen4-image" }),
  // The model needs an image.
  reference({
    upstreamModel: "gen4_image_turbo",
    preference: 70,
    supports: ({ images }) => images !== undefined && images.length > 0,
  }),
  video({ upstreamModel: "gen4_turbo", preference: 50 }),
  video({
    upstreamModel: "gen4.5",
    preference: 60,
    // The model needs a prompt.
    body: (job) => ({ ...videoShape(job), promptText: job.prompt || "The scene comes to life" }),
  }),
  veo("veo3.1_fast", 70),
  veo("veo3.1", 80),
  gpt25("image.generate", GPT_GENERATE),
  gpt25("image.edit", GPT_EDIT),
  gpt2("image.generate", GPT_GENERATE),
  gpt2("image.edit", GPT_EDIT),
]);

// fal's endpoints for character images and for tagged reference images.
import type { Job } from "../../contract/operation.ts";
import { adaptedBy, declareParameters, onlyWith, replacing } from "../parameter-support.ts";
import type { Asset } from "../provider.ts";
import type { OfferSpec } from "../with-published-prices.ts";
import { deferredImage, deferredImages, deferredInvertedMask } from "./deferred-values.ts";
import { falOffer, hasImages, hasNoImages, option } from "./fields.ts";
import { NANO_RATIOS } from "./rows.ts";

const PRESETS: Record<string, string> = {
  "1:1": "square_hd",
  "4:3": "landscape_4_3",
  "3:4": "portrait_4_3",
  "16:9": "landscape_16_9",
  "9:16": "portrait_16_9",
};
const SPEEDS: Record<string, string> = { Default: "BALANCED", Turbo: "TURBO", Quality: "QUALITY" };
const MAGIC: Record<string, boolean> = { On: true, Auto: true, Off: false };
const USUAL_SIDE = 1248;
const STEP = 32;

/** The endpoint's name for an aspect ratio, or a size with the requested longer side. */
function characterSize(job: Job<Asset>) {
  const ratio = job.aspect_ratio;
  const longer = Number(option(job, "resolution"));
  if (!ratio) return undefined;
  if (!longer && PRESETS[ratio]) return PRESETS[ratio];
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  const side = (part: number) => Math.round(((longer || USUAL_SIDE) * part) / Math.max(across, down) / STEP) * STEP;
  return { width: side(across), height: side(down) };
}

const upper = (value: unknown) => (value === undefined ? undefined : String(value).toUpperCase());

const drawn = (job: Job<Asset>) => ({
  prompt: job.prompt,
  num_images: job.count,
  seed: job.seed,
  rendering_speed: SPEEDS[String(option(job, "rendering_speed"))],
  expand_prompt: MAGIC[String(option(job, "magic_prompt_option"))],
});
const styled = (job: Job<Asset>) => ({ style: upper(option(job, "style_type")), image_size: characterSize(job) });
const known = (job: Job<Asset>) => ({ reference_image_urls: deferredImages(job.images?.slice(0, 1)) });

/** The endpoints need sides that are multiples of 32 pixels, and an aspect ratio to compute the other side. */
const RESOLUTION = onlyWith(
  "aspect_ratio",
  adaptedBy(`multiples of ${STEP}`, (value) => String(Math.round(Number(value) / STEP) * STEP)),
);
const TUNED = ["prompt", "seed", "rendering_speed", "magic_prompt_option"] as const;
const CHARACTER = { task: "image.character", model: "character-default", preference: 50 } as const;
const SAME = { ...CHARACTER, equivalence: "ideogram-character" } as const;

const characters = [
  falOffer({
    ...SAME,
    upstreamModel: "fal-ai/ideogram/character",
    limits: { count: 8, images: 1, mask: false },
    parameters: declareParameters("image.character", {
      honours: [...TUNED, "images", "aspect_ratio", "style_type"],
      adapts: { resolution: RESOLUTION },
      excludes: ["mask"],
    }),
    supports: ({ images = [] }) => images.length === 1,
    body: (job) => ({ ...drawn(job), ...styled(job), ...known(job) }),
  }),
  falOffer({
    ...SAME,
    upstreamModel: "fal-ai/ideogram/character/remix",
    limits: { count: 8, images: 2, mask: false },
    parameters: declareParameters("image.character", {
      honours: [...TUNED, "images", "aspect_ratio", "style_type"],
      adapts: { resolution: RESOLUTION },
      excludes: ["mask"],
    }),
    supports: ({ images = [], mask }) => images.length === 2 && mask === undefined,
    body: (job) => ({ ...drawn(job), ...styled(job), ...known(job), image_url: deferredImage(job.images?.[1]) }),
  }),
  falOffer({
    ...SAME,
    upstreamModel: "fal-ai/ideogram/character/edit",
    limits: { count: 8, images: 2, mask: true },
    parameters: declareParameters("image.character", {
      honours: [...TUNED, "images", "mask"],
      ignores: ["aspect_ratio", "style_type", "resolution"],
    }),
    supports: ({ images = [], mask }) => images.length === 2 && mask !== undefined,
    body: (job) => ({
      ...drawn(job),
      ...known(job),
      image_url: deferredImage(job.images?.[1]),
      mask_url: deferredInvertedMask(job.mask),
    }),
  }),
  falOffer({
    ...CHARACTER,
    upstreamModel: "fal-ai/ideogram/v3",
    limits: { count: 8, mask: false },
    parameters: declareParameters("image.character", {
      honours: [...TUNED, "aspect_ratio"],
      // The endpoint without a character reference has no style "Fiction".
      adapts: { style_type: replacing({ Fiction: "General" }), resolution: RESOLUTION },
      excludes: ["images", "mask"],
    }),
    supports: hasNoImages,
    body: (job) => ({ ...drawn(job), ...styled(job) }),
  }),
];

const RESOLUTIONS = replacing({ "720p": "1K", "1080p": "2K" });

/** The model has no tags, so the prompt refers to each image by its index. */
function untagged(job: Job<Asset>): string {
  const tags = (option(job, "tags") ?? []) as string[];
  return tags.reduce(
    (text, tag, index) => text.replaceAll(new RegExp(`@${tag}\\b`, "g"), `${tag} (image ${index + 1})`),
    job.prompt ?? "",
  );
}

const referenced = (job: Job<Asset>) => ({
  prompt: untagged(job),
  output_format: "png",
  aspect_ratio: job.aspect_ratio,
  resolution: option(job, "resolution"),
});
const REFERENCE = { task: "image.reference", model: "reference-default", preference: 60 } as const;

const references = [
  falOffer({
    ...REFERENCE,
    upstreamModel: "google/nano-banana-2.1/edit",
    limits: { ratios: NANO_RATIOS, count: 1, images: 14, mask: false },
    parameters: declareParameters("image.reference", {
      honours: ["prompt", "images", "tags", "aspect_ratio"],
      adapts: { resolution: RESOLUTIONS },
    }),
    supports: hasImages,
    body: (job) => ({ ...referenced(job), image_urls: deferredImages(job.images) }),
  }),
  falOffer({
    ...REFERENCE,
    upstreamModel: "google/nano-banana-2.1",
    limits: { ratios: NANO_RATIOS, count: 1, mask: false },
    parameters: declareParameters("image.reference", {
      honours: ["prompt", "aspect_ratio"],
      adapts: { resolution: RESOLUTIONS },
      ignores: ["tags"],
      excludes: ["images"],
    }),
    supports: hasNoImages,
    body: referenced,
  }),
];

export const characterOffers: OfferSpec[] = [...characters, ...references];

// fal's endpoints for edits by prompt, inpainting, removal and outpainting.
import type { Job } from "../../contract/operation.ts";
import { FRAME_PARAMETERS } from "../../contract/task-parameters.ts";
import { asSize, declareParameters } from "../parameter-support.ts";
import type { Asset, Offer } from "../provider.ts";
import type { OfferSpec } from "../with-published-prices.ts";
import { deferredImage, deferredImages, deferredTransparentMask } from "./deferred-values.ts";
import { commonFields, falOffer, maskedFirst, option } from "./fields.ts";
import {
  FAL_KONTEXT_RATIOS,
  falGptImageBody,
  falKontextBody,
  falNanoBananaBody,
  GPT_SIZES,
  NANO_RATIOS,
} from "./generate-offers.ts";

const edit = "image.edit";
const isMasked: Offer["supports"] = ({ mask }) => mask !== undefined;
const isUnmasked: Offer["supports"] = ({ mask }) => mask === undefined;

const EDITING = declareParameters(edit, {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  excludes: ["mask"],
});
const EDITING_IN_MASK = declareParameters(edit, {
  honours: ["prompt", "images", "mask", "aspect_ratio", "seed", "count"],
});

const kontextEdit = (model: string) =>
  ({
    task: edit,
    model,
    upstreamModel: "fal-ai/flux-pro/kontext/max",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, images: 1, mask: false },
    parameters: EDITING,
    supports: isUnmasked,
    body: (job: Job<Asset>) => ({ ...falKontextBody(job), image_url: deferredImage(job.images?.[0]) }),
  }) as const;

const nanoEdit = (model: string) =>
  ({
    task: edit,
    model,
    upstreamModel: "fal-ai/nano-banana-2/edit",
    preference: 50,
    equivalence: "nano-banana",
  }) as const;

/** The model has no mask field, but understands a mask as an additional image. */
const MASK_INSTRUCTION = "The last image is a mask: change only what is white in it, and leave all else as it is.";

const edits = [
  falOffer({ ...kontextEdit("flux-kontext-max"), preference: 60, equivalence: "flux-kontext-max" }),
  falOffer({
    task: edit,
    model: "vendora",
    upstreamModel: "fal-ai/gpt-image-1.5/edit",
    preference: 50,
    equivalence: "gpt-image",
    limits: { sizes: GPT_SIZES, count: 4, mask: true },
    // The model has no seed.
    parameters: declareParameters(edit, {
      honours: ["prompt", "images", "mask", "count"],
      adapts: { aspect_ratio: asSize },
      ignores: ["seed"],
    }),
    body: (job) => ({
      ...falGptImageBody(job),
      image_urls: deferredImages(maskedFirst(job)),
      ...(job.mask && { mask_image_url: deferredTransparentMask(job.mask) }),
    }),
  }),
  falOffer({
    ...nanoEdit("nanobanana"),
    limits: { ratios: NANO_RATIOS, count: 4, images: 14, mask: false },
    parameters: EDITING,
    body: (job) => ({ ...falNanoBananaBody(job), image_urls: deferredImages(job.images) }),
  }),
  falOffer({
    ...nanoEdit("gemini-2.5"),
    limits: { ratios: NANO_RATIOS, count: 4, images: 13, mask: true },
    parameters: EDITING_IN_MASK,
    body: (job) => ({
      ...falNanoBananaBody(job),
      ...(job.mask && { prompt: `${job.prompt}\n${MASK_INSTRUCTION}` }),
      image_urls: deferredImages([...maskedFirst(job), ...(job.mask ? [job.mask] : [])]),
    }),
  }),
  falOffer({
    task: edit,
    model: "edit-default",
    upstreamModel: "fal-ai/flux-pro/v1/fill",
    preference: 40,
    equivalence: "mask-fill",
    limits: { count: 4, images: 1, mask: true },
    parameters: declareParameters(edit, {
      honours: ["prompt", "images", "mask", "seed", "count"],
      ignores: ["aspect_ratio"],
    }),
    supports: isMasked,
    body: (job) => ({
      ...commonFields(job),
      image_url: deferredImage(job.images?.[0]),
      mask_url: deferredImage(job.mask),
    }),
  }),
  falOffer({ ...kontextEdit("edit-default"), preference: 50 }),
];

const REMOVE = { task: "image.remove", model: "remove-default", equivalence: "object-removal" } as const;
/** Erasers remove the masked area; they do not find objects. */
const ERASING = declareParameters("image.remove", {
  honours: ["images", "mask"],
  ignores: ["prompt", "remove_shadow", "multiple"],
});
/** Margin around the removed object in pixels, which includes the start of its shadow. */
const WITH_SHADOW = 40;

const removalPrompt = (job: Job<Asset>) =>
  [job.prompt, option(job, "multiple") && "all of them", option(job, "remove_shadow") && "and the shadow"]
    .filter(Boolean)
    .join(", ");

const removals = [
  falOffer({
    ...REMOVE,
    upstreamModel: "fal-ai/object-removal",
    preference: 40,
    limits: { count: 1, images: 1, mask: false },
    parameters: declareParameters("image.remove", {
      honours: ["prompt", "images", "remove_shadow", "multiple"],
      excludes: ["mask"],
    }),
    supports: isUnmasked,
    body: (job) => ({
      image_url: deferredImage(job.images?.[0]),
      prompt: removalPrompt(job),
      ...(option(job, "remove_shadow") === true && { mask_expansion: WITH_SHADOW }),
    }),
  }),
  falOffer({
    ...REMOVE,
    upstreamModel: "fal-ai/flux-pro/v1/erase",
    preference: 40,
    limits: { count: 1, images: 1, mask: true },
    parameters: ERASING,
    supports: isMasked,
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), mask_url: deferredImage(job.mask) }),
  }),
  falOffer({
    ...REMOVE,
    upstreamModel: "fal-ai/bria/eraser",
    preference: 50,
    limits: { count: 1, images: 1, mask: true },
    parameters: ERASING,
    supports: isMasked,
    body: (job) => ({ image_url: deferredImage(job.images?.[0]), mask_url: deferredImage(job.mask) }),
  }),
];

const frames = [
  ["photon-1", "fal-ai/luma-photon/reframe"],
  ["photon-flash-1", "fal-ai/luma-photon/flash/reframe"],
].map(([model = "", upstreamModel = ""]) =>
  falOffer({
    task: "image.reframe",
    model,
    upstreamModel,
    preference: 40,
    equivalence: model,
    limits: { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"], count: 1, images: 1, mask: false },
    parameters: declareParameters("image.reframe", {
      honours: ["prompt", "images", "aspect_ratio", ...FRAME_PARAMETERS],
    }),
    body: (job) => ({
      image_url: deferredImage(job.images?.[0]),
      aspect_ratio: job.aspect_ratio,
      prompt: job.prompt,
      ...Object.fromEntries(FRAME_PARAMETERS.map((name) => [name, option(job, name)])),
    }),
  }),
);

export const editOffers: OfferSpec[] = [...edits, ...removals, ...frames];

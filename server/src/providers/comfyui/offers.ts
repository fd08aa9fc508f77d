// The offers of ComfyUI. The upstream model is the name of a graph. The price is 0, because the operator owns the
// servers.

import { FREE } from "../../prices/price.ts";
import type { Offer } from "../provider.ts";
import { graphParameters, withoutLora } from "./graph-parameters.ts";

const SIDES = { least: 64, most: 2048, step: 16 };

/** Larger batches do not fit into the memory of common GPUs. */
const BATCH = 4;

const offer = (about: Pick<Offer, "task" | "model" | "upstreamModel"> & Partial<Offer>): Offer => ({
  recovery: "find",
  price: FREE,
  latency: "usual",
  parameters: graphParameters(about),
  ...about,
});

const isOwnModel = ({ options = {} }: { options?: Record<string, unknown> | undefined }) =>
  (options.deployment_id ?? options.model_id) !== undefined;

/** Jobs with a LoRA prefer the operator's own servers, which have the LoRA files. */
const flux = (upstreamModel: string, { hasImages, hasLora }: { hasImages: boolean; hasLora: boolean }): Offer =>
  offer({
    task: "image.generate",
    model: "flux-dev",
    upstreamModel,
    preference: hasLora ? 50 : 60,
    equivalence: "flux-dev",
    limits: { sides: SIDES, count: BATCH, images: hasImages ? 1 : 0, mask: false },
    ...(!hasLora && { parameters: withoutLora(graphParameters({ task: "image.generate", upstreamModel })) }),
    supports: (job) => (job.images?.length ?? 0) > 0 === hasImages && isOwnModel(job) === hasLora,
  });

export const comfyuiOffers: Offer[] = [
  flux("flux-dev", { hasImages: false, hasLora: false }),
  flux("flux-dev-lora", { hasImages: false, hasLora: true }),
  flux("flux-dev-image", { hasImages: true, hasLora: false }),
  flux("flux-dev-image-lora", { hasImages: true, hasLora: true }),
  offer({
    task: "image.generate",
    model: "wan-image-2.1",
    upstreamModel: "wan-image-2.1",
    preference: 40,
    limits: { sides: SIDES, count: BATCH, images: 0, mask: false },
  }),
  offer({
    task: "image.generate",
    model: "wan-image-2.2",
    upstreamModel: "wan-image-2.2",
    preference: 40,
    equivalence: "wan-2.2",
    limits: { sides: SIDES, count: BATCH, images: 0, mask: false },
  }),
  offer({
    task: "image.generate",
    model: "qwen-image-edit",
    upstreamModel: "qwen-image-edit",
    preference: 40,
    equivalence: "qwen-image-edit",
    limits: { sides: SIDES, count: BATCH, images: 1, mask: false },
  }),
  offer({
    task: "video.generate",
    model: "video-default",
    upstreamModel: "wan-video-2.2",
    preference: 60,
    latency: "slow",
    limits: { duration: { least: 1, most: 5 }, images: 1, count: 1 },
    supports: ({ images }) => images !== undefined,
  }),
];

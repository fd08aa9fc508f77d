// Common parts of fal's offers: defaults, conditions on jobs, and fields that several endpoints share.
import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Asset, Offer } from "../provider.ts";
import type { OfferSpec } from "../with-published-prices.ts";
import { lora, type SendableImage } from "./deferred-values.ts";

type FalOfferSpec = Omit<OfferSpec, "recovery"> & { body(job: Job<Asset>): JsonObject };

/** fal accepts no idempotency key and has no job list, so only a callback resolves a lost submission. */
export const falOffer = (offer: FalOfferSpec): OfferSpec => ({ recovery: "none", ...offer });

type SupportedJob = Parameters<NonNullable<Offer["supports"]>>[0];
const imageCount = ({ images = [] }: SupportedJob) => images.length;

export const hasImages = (job: SupportedJob) => imageCount(job) > 0;
export const hasNoImages = (job: SupportedJob) => imageCount(job) === 0;
export const hasOption =
  (name: string) =>
  ({ options = {} }: SupportedJob) =>
    options[name] !== undefined;

export const option = ({ options = {} }: Job<Asset>, name: string): unknown => options[name];

/** Fields with the same names at nearly all endpoints. The default format of most is JPEG. */
export const commonFields = ({ prompt, count, seed }: Job<Asset>) => ({
  prompt,
  num_images: count,
  seed,
  output_format: "png",
});

export const imageSize = ({ width, height }: Job<Asset>) => (width && height ? { width, height } : undefined);

export const loras = (name: unknown, scale: unknown) =>
  name === undefined ? undefined : [{ path: lora(name), scale }];

/** For endpoints whose result has the size of the input: resizes the input to the requested size. */
export function resizeToJob(asset: Asset | undefined, { width, height }: Job<Asset>): SendableImage | undefined {
  if (!asset || !width || !height) return asset;
  const pixelTask = { name: "resize-to-cover", size: { width, height } } as const;
  return { media_type: "image/png", bytes: asset.bytes, pixelTask };
}

/** Puts the image that the mask belongs to first. */
export function maskedFirst({ images = [], mask, mask_over = 0 }: Job<Asset>): Asset[] {
  if (!mask || mask_over === 0) return images;
  return [...images.slice(mask_over, mask_over + 1), ...images.filter((_, index) => index !== mask_over)];
}

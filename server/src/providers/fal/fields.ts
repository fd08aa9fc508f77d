// What the rows of fal's offers have in common: how a row is written, which jobs it is for, and fields that several
// endpoints call alike.
import sharp from "sharp";
import type { Job } from "../../kit/operation.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Asset, Offer } from "../provider.ts";
import { lora, type SendableImage } from "./deferred-values.ts";

type Row = Omit<Offer, "recovery" | "price"> & { price?: number; body(job: Job<Asset>): JsonObject };

/** fal has no key of ours and no list to look in: a submission that was lost is known only by its callback. */
export const falOffer = (offer: Row): Offer => ({ recovery: "none", price: null, ...offer });

type Asked = Parameters<NonNullable<Offer["supports"]>>[0];
const pictureCount = ({ images = [] }: Asked) => images.length;

export const hasImages = (job: Asked) => pictureCount(job) > 0;
export const hasNoImages = (job: Asked) => pictureCount(job) === 0;
export const hasOption =
  (name: string) =>
  ({ options = {} }: Asked) =>
    options[name] !== undefined;

export const option = ({ options = {} }: Job<Asset>, name: string): unknown => options[name];

/** Nearly all endpoints know these by the same names. JPEG is what most would answer with. */
export const commonFields = ({ prompt, count, seed }: Job<Asset>) => ({
  prompt,
  num_images: count,
  seed,
  output_format: "png",
});

export const imageSize = ({ width, height }: Job<Asset>) => (width && height ? { width, height } : undefined);

export const loras = (name: unknown, scale: unknown) =>
  name === undefined ? undefined : [{ path: lora(name), scale }];

/** For endpoints that give the result the size of the picture: it is brought to the size that was asked for. */
export function resizeToJob(asset: Asset | undefined, { width, height }: Job<Asset>): SendableImage | undefined {
  if (!asset || !width || !height) return asset;
  const bytes = async () =>
    sharp(await asset.bytes())
      .resize({ width, height, fit: "cover" })
      .png()
      .toBuffer();
  return { media_type: "image/png", bytes };
}

/** The picture that the mask lies over goes first. */
export function maskedFirst({ images = [], mask, mask_over = 0 }: Job<Asset>): Asset[] {
  if (!mask || mask_over === 0) return images;
  return [...images.slice(mask_over, mask_over + 1), ...images.filter((_, index) => index !== mask_over)];
}

// Builds the inputs of Replicate's models, one function per model.
import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Asset } from "../provider.ts";
import type { ReplicateImage } from "./image-transfer.ts";

const QUARTER_MEGAPIXEL = 512 * 512;

export const pickOptions = (options: JsonObject = {}, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, options[name]]));

/** In this model's masks, black changes. */
const inverted = (mask: Asset): ReplicateImage => ({
  media_type: "image/png",
  bytes: mask.bytes,
  pixelTask: { name: "invert-mask" },
});

export const fluxDev = ({ prompt, images, options, ...job }: Job<Asset>): JsonObject => ({
  prompt,
  image: images?.[0],
  aspect_ratio: job.aspect_ratio,
  megapixels: job.width && job.height && job.width * job.height <= QUARTER_MEGAPIXEL ? "0.25" : undefined,
  num_outputs: job.count,
  guidance: options?.guidance,
  num_inference_steps: options?.steps,
  seed: job.seed,
  // The fast mode ignores the seed.
  go_fast: job.seed === undefined ? undefined : false,
  output_format: "png",
});

export const replicateKontextInput = ({ prompt, images, aspect_ratio, seed }: Job<Asset>): JsonObject => ({
  prompt,
  input_image: images?.[0],
  aspect_ratio,
  seed,
  output_format: "png",
});

export const kontextMulti = ({ images: [first, second] = [], ...job }: Job<Asset>): JsonObject => ({
  ...replicateKontextInput(job),
  input_image_1: first,
  input_image_2: second,
});

export const replicateGptImageInput = ({ prompt, images, aspect_ratio, count }: Job<Asset>): JsonObject => ({
  prompt,
  input_images: images,
  aspect_ratio,
  number_of_images: count,
  output_format: "png",
});

export const replicateNanoBananaInput = ({ prompt, images, aspect_ratio }: Job<Asset>): JsonObject => ({
  prompt,
  image_input: images,
  aspect_ratio,
  output_format: "png",
});

export const qwenEdit = ({ prompt, images, aspect_ratio, seed }: Job<Asset>): JsonObject => ({
  prompt,
  image: images,
  aspect_ratio,
  seed,
  go_fast: seed === undefined ? undefined : false,
  output_format: "png",
});

export const character = ({ prompt, images: [reference, image] = [], mask, seed, ...job }: Job<Asset>): JsonObject => ({
  prompt,
  character_reference_image: reference,
  image,
  mask: mask && inverted(mask),
  aspect_ratio: job.aspect_ratio,
  seed,
  ...pickOptions(job.options, ["rendering_speed", "style_type", "magic_prompt_option"]),
});

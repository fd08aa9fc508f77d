// How a job becomes the input of one of Replicate's models, a function each. Fields are the models' own.
import type { Job } from "../../kit/operation.ts";
import type { Json } from "../../kit/shapes.ts";
import { invertMask } from "../mask.ts";
import type { Asset } from "../provider.ts";
import type { Picture } from "./pictures.ts";

const QUARTER_MEGAPIXEL = 512 * 512;
const MOST_GUIDANCE = 10;
const MOST_STEPS = 50;

const most = (value: unknown, limit: number) => (typeof value === "number" ? Math.min(value, limit) : undefined);
export const chosen = (options: Json = {}, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, options[name]]));

/** This model means by black what we mean by white. */
const inverted = (mask: Asset): Picture => ({
  media_type: "image/png",
  bytes: async () => invertMask(await mask.bytes()),
});

export const fluxDev = ({ prompt, images, options, ...job }: Job<Asset>): Json => ({
  prompt,
  image: images?.[0],
  // A picture made from a picture has its shape.
  aspect_ratio: images ? undefined : job.aspect_ratio,
  megapixels: job.width && job.height && job.width * job.height <= QUARTER_MEGAPIXEL ? "0.25" : undefined,
  num_outputs: job.count,
  guidance: most(options?.guidance, MOST_GUIDANCE),
  num_inference_steps: most(options?.steps, MOST_STEPS),
  seed: job.seed,
  // Its quick way does not keep to a seed.
  go_fast: job.seed === undefined ? undefined : false,
  output_format: "png",
});

export const kontext = ({ prompt, images, aspect_ratio, seed }: Job<Asset>): Json => ({
  prompt,
  input_image: images?.[0],
  aspect_ratio,
  seed,
  output_format: "png",
});

export const kontextMulti = ({ images: [first, second] = [], ...job }: Job<Asset>): Json => ({
  ...kontext(job),
  input_image_1: first,
  input_image_2: second,
});

export const gptImage = ({ prompt, images, aspect_ratio, count }: Job<Asset>): Json => ({
  prompt,
  input_images: images,
  aspect_ratio,
  number_of_images: count,
  output_format: "png",
});

export const nanoBanana = ({ prompt, images, aspect_ratio }: Job<Asset>): Json => ({
  prompt,
  image_input: images,
  aspect_ratio,
  output_format: "png",
});

export const qwenEdit = ({ prompt, images, aspect_ratio, seed }: Job<Asset>): Json => ({
  prompt,
  image: images,
  aspect_ratio,
  seed,
  go_fast: seed === undefined ? undefined : false,
  output_format: "png",
});

export const character = ({ prompt, images: [reference, image] = [], mask, seed, ...job }: Job<Asset>): Json => ({
  prompt,
  character_reference_image: reference,
  image,
  mask: mask && inverted(mask),
  aspect_ratio: job.aspect_ratio,
  // It counts to half of what we do.
  seed: seed === undefined ? undefined : seed % 2 ** 31,
  ...chosen(job.options, ["rendering_speed", "style_type", "magic_prompt_option"]),
});

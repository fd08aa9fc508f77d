// The models of the fake Replicate: the exact inputs of each, and its outputs.
import sharp from "sharp";
import { z } from "zod";
import { createTestVideo, drawTestImage, type MaskConvention, repaintMasked, sizeOfRatio } from "../result-files.ts";

export type GeneratedFile = { bytes: Uint8Array; mediaType: string };
type Input = Record<string, unknown>;
/** `files` reads an image of the input; `single` models return one URL instead of a list. */
type Model = {
  input: z.ZodObject;
  single: boolean;
  byVersion?: string;
  make(input: Input, files: (field: string) => Promise<Uint8Array[]>): Promise<GeneratedFile[]>;
};

const file = z.string().regex(/^(data:image\/(png|jpeg|webp);base64,|https?:\/\/)/);
const format = z.enum(["png", "jpg", "webp"]).optional();
const seed = z.int().optional();
const ratio = (...allowed: string[]) => z.enum(allowed).optional();
const FLUX = ["1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21"];
const KONTEXT = ["match_input_image", ...FLUX, "2:1", "1:2"];
const BANANA = ["match_input_image", "1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];

const png = async (bytes: Promise<Uint8Array>): Promise<GeneratedFile> => ({
  bytes: await bytes,
  mediaType: "image/png",
});

/** An image in the colour of its prompt and in the requested shape. */
const drawn = (input: Input, index = 0) => {
  const shape = String(input.aspect_ratio ?? "1:1");
  const [width, height] = sizeOfRatio(/^\d+:\d+$/.test(shape) ? shape : "1:1");
  return png(drawTestImage(`${input.prompt} ${input.seed ?? ""} ${index}`, width, height));
};
const one = async (input: Input) => [await drawn(input)];
const several = (field: string) => (input: Input) =>
  Promise.all(Array.from({ length: Number(input[field] ?? 1) }, (_, index) => drawn(input, index)));

const repainted =
  (means: MaskConvention): Model["make"] =>
  async (input, files) => {
    const [[image], [mask]] = await Promise.all([files("image"), files("mask")]);
    if (!image || !mask) return one(input);
    return [await png(repaintMasked(image, mask, means, String(input.prompt ?? "erased")))];
  };

async function cutOut(_: Input, files: (field: string) => Promise<Uint8Array[]>): Promise<GeneratedFile[]> {
  const [image] = await files("image");
  const { width, height } = await sharp(image!).metadata();
  const clear = { create: { width, height, channels: 4 as const, background: { r: 0, g: 0, b: 0, alpha: 0 } } };
  const middle = await sharp(image!)
    .resize(Math.ceil(width / 2), Math.ceil(height / 2), { fit: "fill" })
    .png()
    .toBuffer();
  return [
    await png(
      sharp(clear)
        .composite([{ input: middle, gravity: "centre" }])
        .png()
        .toBuffer(),
    ),
  ];
}

async function masked(_: Input, files: (field: string) => Promise<Uint8Array[]>): Promise<GeneratedFile[]> {
  const [image] = await files("image");
  const { width, height } = await sharp(image!).metadata();
  const white = await sharp({
    create: { width: Math.ceil(width / 2), height: Math.ceil(height / 2), channels: 3, background: "#fff" },
  })
    .png()
    .toBuffer();
  const black = { create: { width, height, channels: 3 as const, background: "#000" } };
  return [
    await png(
      sharp(black)
        .composite([{ input: white, gravity: "centre" }])
        .png()
        .toBuffer(),
    ),
  ];
}

async function enlarged(input: Input, files: (field: string) => Promise<Uint8Array[]>): Promise<GeneratedFile[]> {
  const [image] = await files("image");
  const factor = Number(String(input.upscale_factor ?? "x2").slice(1));
  const { width } = await sharp(image!).metadata();
  return [
    await png(
      sharp(image!)
        .resize(width * factor)
        .png()
        .toBuffer(),
    ),
  ];
}

const gptImage = (...qualities: string[]): Model => ({
  single: false,
  input: z.strictObject({
    prompt: z.string(),
    aspect_ratio: ratio("1:1", "3:2", "2:3"),
    input_images: z.array(file).max(16).optional(),
    number_of_images: z.literal(1).optional(),
    quality: z.enum(qualities).optional(),
    output_format: z.enum(["png", "jpeg", "webp"]).optional(),
  }),
  make: several("number_of_images"),
});

export const REPLICATE_MODELS: Record<string, Model> = {
  "black-forest-labs/flux-dev": {
    single: false,
    input: z.strictObject({
      prompt: z.string(),
      image: file.optional(),
      aspect_ratio: ratio(...FLUX),
      megapixels: z.enum(["1", "0.25"]).optional(),
      num_outputs: z.int().min(1).max(4).optional(),
      num_inference_steps: z.int().min(1).max(50).optional(),
      guidance: z.number().min(0).max(10).optional(),
      prompt_strength: z.number().min(0).max(1).optional(),
      go_fast: z.boolean().optional(),
      seed,
      output_format: format,
    }),
    make: several("num_outputs"),
  },
  "black-forest-labs/flux-kontext-max": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      input_image: file.optional(),
      aspect_ratio: ratio(...KONTEXT),
      prompt_upsampling: z.boolean().optional(),
      safety_tolerance: z.int().min(0).max(6).optional(),
      seed,
      output_format: z.enum(["png", "jpg"]).optional(),
    }),
    make: one,
  },
  "flux-kontext-apps/multi-image-kontext-max": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      input_image_1: file,
      input_image_2: file,
      aspect_ratio: ratio(...KONTEXT),
      safety_tolerance: z.int().min(0).max(2).optional(),
      seed,
      output_format: z.enum(["png", "jpg"]).optional(),
    }),
    make: one,
  },
  "google/imagen-4": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      aspect_ratio: ratio("1:1", "9:16", "16:9", "3:4", "4:3"),
      output_format: z.enum(["png", "jpg"]).optional(),
    }),
    make: one,
  },
  "google/nano-banana-2.1": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      image_input: z.array(file).max(14).optional(),
      aspect_ratio: ratio(...BANANA, "1:4", "4:1", "1:8", "8:1"),
      resolution: z.enum(["1K", "2K", "4K"]).optional(),
      output_format: z.enum(["png", "jpg"]).optional(),
    }),
    make: one,
  },
  "google/nano-banana-2": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      image_input: z.array(file).max(14).optional(),
      aspect_ratio: ratio(...BANANA, "1:4", "4:1", "1:8", "8:1"),
      resolution: z.enum(["1K", "2K", "4K"]).optional(),
      output_format: z.enum(["png", "jpg"]).optional(),
    }),
    make: one,
  },
  "openai/gpt-image-2.5-flare": gptImage("low", "medium", "high", "xhigh", "max", "auto"),
  "openai/gpt-image-2": gptImage("low", "medium", "high", "auto"),
  "openai/gpt-image-1.5": {
    single: false,
    input: z.strictObject({
      prompt: z.string(),
      aspect_ratio: ratio("1:1", "3:2", "2:3"),
      input_images: z.array(file).optional(),
      number_of_images: z.int().min(1).max(10).optional(),
      quality: z.enum(["low", "medium", "high", "auto"]).optional(),
      output_format: z.enum(["png", "jpeg", "webp"]).optional(),
    }),
    make: several("number_of_images"),
  },
  "qwen/qwen-image-edit-plus": {
    single: false,
    input: z.strictObject({
      prompt: z.string(),
      image: z.array(file).min(1),
      aspect_ratio: ratio("1:1", "16:9", "9:16", "4:3", "3:4", "match_input_image"),
      go_fast: z.boolean().optional(),
      seed,
      output_format: format,
    }),
    make: several("none"),
  },
  "ideogram-ai/ideogram-character": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      character_reference_image: file,
      image: file.optional(),
      mask: file.optional(),
      rendering_speed: z.enum(["Default", "Turbo", "Quality"]).optional(),
      style_type: z.enum(["Auto", "Fiction", "Realistic"]).optional(),
      magic_prompt_option: z.enum(["Auto", "On", "Off"]).optional(),
      aspect_ratio: ratio(
        ...[
          "1:3",
          "3:1",
          "1:2",
          "2:1",
          "9:16",
          "16:9",
          "10:16",
          "16:10",
          "2:3",
          "3:2",
          "3:4",
          "4:3",
          "4:5",
          "5:4",
          "1:1",
        ],
      ),
      resolution: z.string().optional(),
      seed: z.int().max(2147483647).optional(),
    }),
    make: repainted("black"),
  },
  "runwayml/gen4-image": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      reference_images: z.array(file).max(3).optional(),
      reference_tags: z
        .array(z.string().regex(/^[A-Za-z]\w{2,15}$/))
        .max(3)
        .optional(),
      aspect_ratio: ratio("16:9", "9:16", "4:3", "3:4", "1:1", "21:9"),
      resolution: z.enum(["720p", "1080p"]).optional(),
      seed,
    }),
    make: one,
  },
  "luma/reframe-image": {
    single: true,
    input: z.strictObject({
      image: file,
      aspect_ratio: ratio("1:1", "3:4", "4:3", "9:16", "16:9", "9:21", "21:9"),
      prompt: z.string().optional(),
      model: z.enum(["photon-1", "photon-flash-1"]).optional(),
      ...Object.fromEntries(
        ["grid_position_x", "grid_position_y", "x_start", "x_end", "y_start", "y_end"].map((name) => [
          name,
          z.int().optional(),
        ]),
      ),
    }),
    make: one,
  },
  "bria/remove-background": { single: true, input: z.strictObject({ image: file }), make: cutOut },
  "bria/eraser": { single: true, input: z.strictObject({ image: file, mask: file }), make: repainted("white") },
  "bria/genfill": {
    single: true,
    input: z.strictObject({ image: file, mask: file, prompt: z.string() }),
    make: repainted("white"),
  },
  "mattsays/sam3-image": {
    single: true,
    byVersion: "d73db077226443ba4fafd34e233b4c04f2d0a1f2f0c2d3e4a5b6c7d8e9f0a1b2",
    input: z.strictObject({
      image: file,
      prompt: z.string().optional(),
      mask_only: z.boolean().optional(),
      return_zip: z.literal(false),
      threshold: z.number().min(0).max(1).optional(),
    }),
    make: masked,
  },
  "google/upscaler": {
    single: true,
    input: z.strictObject({
      image: file,
      upscale_factor: z.enum(["x2", "x4"]).optional(),
      compression_quality: z.int().min(1).max(100).optional(),
    }),
    make: enlarged,
  },
  "kwaivgi/kling-v3-video": {
    single: true,
    input: z.strictObject({
      prompt: z.string().max(2500),
      negative_prompt: z.string().max(2500).optional(),
      start_image: file.optional(),
      mode: z.enum(["standard", "pro", "4k"]).optional(),
      aspect_ratio: ratio("16:9", "9:16", "1:1"),
      duration: z.int().min(3).max(15).optional(),
      generate_audio: z.boolean().optional(),
    }),
    make: async () => [{ bytes: await createTestVideo(), mediaType: "video/mp4" }],
  },
  "kwaivgi/kling-v2.1": {
    single: true,
    input: z.strictObject({
      prompt: z.string(),
      negative_prompt: z.string().optional(),
      start_image: file,
      mode: z.enum(["standard", "pro"]).optional(),
      duration: z.literal([5, 10]).optional(),
    }),
    make: async () => [{ bytes: await createTestVideo(), mediaType: "video/mp4" }],
  },
};

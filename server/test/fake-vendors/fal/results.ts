// Results of fal's models: real files of the requested size and number, and text.
import sharp from "sharp";
import type { FakeVendorServices } from "../fake-vendor.ts";
import { createTestVideo, drawTestImage, type MaskConvention, repaintMasked, sizeOfRatio } from "../result-files.ts";

type Input = Record<string, unknown>;
type ResultDependencies = { services: FakeVendorServices; open(url: string): Promise<Buffer> };

const PRESETS: Record<string, [number, number]> = {
  square_hd: [1024, 1024],
  square: [512, 512],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576],
};

/** The mask convention of each endpoint. The one of OpenAI's model uses transparency. */
const MASKS: Record<string, MaskConvention> = {
  "fal-ai/flux-pro/v1/fill": "white",
  "fal-ai/flux-pro/v1/erase": "white",
  "fal-ai/bria/eraser": "white",
  "fal-ai/ideogram/character/edit": "black",
  "fal-ai/gpt-image-1.5/edit": "transparent",
  "openai/gpt-image-2.5/flare/edit": "transparent",
};

const text = (value: unknown) => (typeof value === "string" ? value : undefined);

async function sizeFor(input: Input, source: Buffer | undefined): Promise<[number, number]> {
  const size = input.image_size;
  if (size && typeof size === "object") {
    const { width = 512, height = 512 } = size as { width?: number; height?: number };
    return [width, height];
  }
  const named = text(size);
  if (named && PRESETS[named]) return PRESETS[named];
  if (named?.includes("x")) return named.split("x").map(Number) as [number, number];
  const ratio = text(input.aspect_ratio);
  if (ratio && ratio !== "auto") return sizeOfRatio(ratio);
  if (!source) return [64, 64];
  const { width, height } = await sharp(source).metadata();
  return [width, height];
}

const fileOf = async ({ services }: ResultDependencies, bytes: Buffer) => {
  const { width, height, format } = await sharp(bytes).metadata();
  const content_type = `image/${format}`;
  const url = services.storeFile(bytes, content_type);
  return { url, width, height, content_type, file_name: "result", file_size: bytes.length };
};

/** The first image of the request, and its mask. */
async function sources(input: Input, { open }: ResultDependencies) {
  const [first] = [input.image_url, (input.image_urls as string[] | undefined)?.[0]].flatMap((url) => text(url) ?? []);
  const mask = text(input.mask_url) ?? text(input.mask_image_url);
  return { source: first && (await open(first)), mask: mask && (await open(mask)) };
}

/** White where a thing was found: the middle, or the left half. */
async function found(source: Buffer, place: "middle" | "left") {
  const { width, height } = await sharp(source).metadata();
  const [across, down] = place === "middle" ? [width >> 1, height >> 1] : [width >> 2, height];
  const white = await drawTestImage("white", across, down).then((bytes) =>
    sharp(bytes).linear(0, 255).png().toBuffer(),
  );
  const left = place === "middle" ? width >> 2 : 0;
  const mask = await sharp({ create: { width, height, channels: 3, background: "#000000" } })
    .composite([{ input: white, left, top: place === "middle" ? height >> 2 : 0 }])
    .png()
    .toBuffer();
  const box = [(left + across / 2) / width, 0.5, across / width, down / height];
  return { mask, box };
}

async function segment(input: Input, source: Buffer, dependencies: ResultDependencies) {
  const isThere = !/nothing|unicorn/.test(String(input.prompt));
  const places = (["middle", "left"] as const).slice(0, input.return_multiple_masks ? Number(input.max_masks ?? 3) : 1);
  const finds = isThere ? await Promise.all(places.map((place) => found(source, place))) : [];
  const masks = await Promise.all(finds.map(({ mask }) => fileOf(dependencies, mask)));
  return {
    masks,
    image: masks[0] ?? null,
    ...(input.include_scores === true && { scores: finds.map((_, index) => 0.9 - index / 10) }),
    ...(input.include_boxes === true && { boxes: finds.map(({ box }) => box) }),
  };
}

async function withoutBackground(source: Buffer) {
  const { width, height } = await sharp(source).metadata();
  const alpha = await found(source, "middle").then(({ mask }) => sharp(mask).extractChannel(0).raw().toBuffer());
  return sharp(source)
    .removeAlpha()
    .toColourspace("srgb")
    .joinChannel(alpha, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

async function enlarge(source: Buffer, scale: number) {
  const { width, height } = await sharp(source).metadata();
  return sharp(source)
    .resize({ width: width * scale, height: height * scale, kernel: "nearest" })
    .png()
    .toBuffer();
}

async function images(endpoint: string, input: Input, dependencies: ResultDependencies) {
  const { source, mask } = await sources(input, dependencies);
  const means = MASKS[endpoint];
  const [width, height] = await sizeFor(input, source || undefined);
  const format = input.output_format === "jpeg" || input.output_format === "webp" ? input.output_format : "png";
  const count = Number(input.num_images ?? 1);
  const made = Array.from({ length: count }, async (_, index) => {
    const text = `${input.prompt ?? endpoint} ${input.seed ?? 0} ${index}`;
    const bytes =
      source && mask && means ? repaintMasked(source, mask, means, text) : drawTestImage(text, width, height, format);
    return fileOf(dependencies, await bytes);
  });
  return Promise.all(made);
}

const ONE_IMAGE = ["fal-ai/bria/eraser", "fal-ai/wan/v2.2-a14b/text-to-image/lora"];
/** The results of these models have nothing beside the images, or only a description or a seed. */
const BARE = /^(openai\/gpt-image|fal-ai\/(gpt-image|object-removal|luma-photon))/;
const SEEDED = /^fal-ai\/ideogram/;
const DESCRIBED = /^(google\/nano-banana|fal-ai\/(nano-banana|imagen4))/;
const MEASURED = /^fal-ai\/(flux|qwen)/;

const sideOf = (image: Record<string, unknown>, names: string[]) =>
  Object.fromEntries(Object.entries(image).filter(([name]) => names.includes(name)));

/** These models say less about an image than others. */
function reducedImage(endpoint: string, image: Record<string, unknown>) {
  if (/^fal-ai\/flux-pro/.test(endpoint)) return sideOf(image, ["url", "width", "height", "content_type"]);
  return /^fal-ai\/(wan|luma-photon|ideogram|evf-sam)/.test(endpoint)
    ? sideOf(image, ["url", "content_type", "file_name", "file_size"])
    : image;
}

/** The body of the result. */
export async function renderResult(
  endpoint: string,
  input: Input,
  dependencies: ResultDependencies,
): Promise<Record<string, unknown>> {
  const { source } = await sources(input, dependencies);
  if (endpoint === "openrouter/router") {
    const added = "in soft light";
    const response = { enhanced_prompt: `${input.prompt}, ${added}`, changes: [{ kind: "light", added }] };
    return { output: JSON.stringify(response) };
  }
  if (endpoint === "fal-ai/moondream3-preview/caption") {
    const output = `A plain image, said in a ${input.length ?? "normal"} way.`;
    const times = { decode_time_ms: 5, prefill_time_ms: 2, ttft_ms: 3 };
    return { output, finish_reason: "stop", usage_info: { input_tokens: 730, output_tokens: 12, ...times } };
  }
  if (endpoint.startsWith("fal-ai/wan/v2.2-5b")) {
    return {
      video: { url: dependencies.services.storeFile(await createTestVideo(), "video/mp4"), content_type: "video/mp4" },
      seed: 1,
    };
  }
  if (source && endpoint === "fal-ai/sam-3/image") return segment(input, source, dependencies);
  if (source && endpoint === "fal-ai/evf-sam") {
    const mask = await fileOf(dependencies, (await found(source, "middle")).mask);
    return { image: reducedImage(endpoint, mask) };
  }
  if (source && endpoint === "fal-ai/birefnet/v2")
    return { image: await fileOf(dependencies, await withoutBackground(source)) };
  if (source && endpoint === "fal-ai/esrgan") {
    return { image: await fileOf(dependencies, await enlarge(source, Number(input.scale ?? 2))) };
  }
  const made = (await images(endpoint, input, dependencies)).map((image) => reducedImage(endpoint, image));
  if (ONE_IMAGE.includes(endpoint)) return { image: made[0], ...(endpoint.includes("wan") && { seed: 1 }) };
  if (SEEDED.test(endpoint)) return { images: made, seed: input.seed ?? 1 };
  if (BARE.test(endpoint)) return { images: made };
  if (DESCRIBED.test(endpoint)) return { images: made, description: "" };
  const measured = MEASURED.test(endpoint) ? { timings: {}, has_nsfw_concepts: made.map(() => false) } : {};
  return { images: made, seed: input.seed ?? 1, prompt: input.prompt ?? "", ...measured };
}

/** The black image that open models show where they do not want to. */
export const renderFlaggedResult = async (input: Input, dependencies: ResultDependencies) => {
  const black = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#000000" } })
    .png()
    .toBuffer();
  const count = Number(input.num_images ?? 1);
  const files = await Promise.all(Array.from({ length: count }, () => fileOf(dependencies, black)));
  return { images: files, has_nsfw_concepts: files.map(() => true), timings: {}, seed: 1, prompt: input.prompt };
};

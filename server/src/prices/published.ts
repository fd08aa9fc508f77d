// Prices of the built-in offers as their providers or others published them, each with its day and source. Verify one
// before you rely on it: `confidence` says who said it. Operators set their own in gesso.yaml.
import type { Price, PriceRow, PriceUnit } from "./price.ts";

type PublishedPrice = Pick<Price, "rows" | "most"> & { tasks?: readonly string[] };
/** Prices that one source said on one day, by upstream model. */
type PriceList = Required<Pick<Price, "as_of" | "source" | "confidence">> & {
  prices: Readonly<Record<string, PublishedPrice | readonly PublishedPrice[]>>;
};

const one = (usd: number, of: PriceUnit): PublishedPrice => ({ rows: [{ of, usd }] });
const perImage = (usd: number) => one(usd, "image");
const perSecond = (usd: number) => one(usd, "second");
const perMegapixel = (usd: number) => one(usd, "megapixel");
const perWholeMegapixel = (usd: number) => one(usd, "whole_megapixel");
const atMost = (usd: number, of: PriceUnit) => ({ most: [{ of, usd }] });
/** Nothing but a bound is known. */
const onlyBound = (usd: number, of: PriceUnit): PublishedPrice => ({ rows: [], ...atMost(usd, of) });

/** Prices of an image by the value of one parameter; the last one for every other value and for none. */
const by = (name: string, values: Readonly<Record<string, number>>, otherwise: number): PublishedPrice => ({
  rows: [
    ...Object.entries(values).map(([value, usd]): PriceRow => ({ of: "image", when: { [name]: value }, usd })),
    { of: "image", usd: otherwise },
  ],
});
const bySpeed = (turbo: number, usual: number, quality: number) =>
  by("rendering_speed", { Turbo: turbo, Quality: quality }, usual);

/** OpenAI's formula gives the most tokens for a square image. Without a quality, the provider may choose the best. */
const squareTokens = (pixels: number, quality: number) => Math.ceil((quality ** 2 * (2_000_000 + pixels)) / 4_000_000);
const OUTPUT_TOKEN = 0.00003;
const [HIGH_QUALITY, MAX_QUALITY] = [48, 96];
const LARGEST_GPT_IMAGE = 2880 * 2880;
const gptImageBound = (quality: number): PriceRow[] => [
  ...[1024 * 1024, 1024 * 1536, 1920 * 1088, 2560 * 1440].map(
    (pixels): PriceRow => ({ of: "image", up_to_pixels: pixels, usd: squareTokens(pixels, quality) * OUTPUT_TOKEN }),
  ),
  { of: "image", usd: squareTokens(LARGEST_GPT_IMAGE, quality) * OUTPUT_TOKEN },
  // At most 1,536 tokens for each image that is sent, and one token for each character.
  { of: "input_image", usd: 0.012288 },
  { of: "prompt_character", usd: 0.000005 },
];
const GPT_IMAGE: PublishedPrice = {
  rows: [
    { of: "input_text_token", usd: 0.000005 },
    { of: "input_image_token", usd: 0.000008 },
    { of: "output_image_token", usd: OUTPUT_TOKEN },
  ],
  most: gptImageBound(MAX_QUALITY),
};
const GPT_IMAGE_15: PublishedPrice = {
  rows: [
    { of: "input_text_token", usd: 0.000005 },
    { of: "input_image_token", usd: 0.000008 },
    { of: "output_text_token", usd: 0.00001 },
    { of: "output_image_token", usd: 0.000032 },
  ],
  most: [
    { of: "image", when: { size: "1024x1024" }, usd: 0.1332 },
    { of: "image", usd: 0.2 },
    { of: "input_image", usd: 0.052 },
    { of: "prompt_character", usd: 0.000005 },
  ],
};

/** At high quality, which is sent. fal says with the result what it bills. */
const GPT_IMAGE_AT_FAL: PublishedPrice = { ...one(1, "dollar"), most: gptImageBound(HIGH_QUALITY) };

/** 1,120, 1,680 and 3,780 tokens by resolution, and 4,000 tokens of text for thinking, which has no published bound. */
const NANO_BANANA: PublishedPrice = {
  rows: [
    { of: "input_token", usd: 0.0000015 },
    { of: "output_text_token", usd: 0.0000075 },
    { of: "output_image_token", usd: 0.00003 },
  ],
  most: [
    { of: "image", when: { resolution: "2K" }, usd: 0.0804 },
    { of: "image", when: { resolution: "4K" }, usd: 0.1434 },
    { of: "image", usd: 0.0636 },
    { of: "input_image", usd: 0.00168 },
    { of: "prompt_character", usd: 0.0000015 },
  ],
};

/** fal's prices are Google's divided by 0.85. The bound has 4,000 tokens of text for thinking. */
const NANO_BANANA_AT_FAL: PublishedPrice = {
  ...by("resolution", { "2K": 0.0593, "4K": 0.134 }, 0.04),
  most: [
    { of: "image", when: { resolution: "2K" }, usd: 0.0946 },
    { of: "image", when: { resolution: "4K" }, usd: 0.1693 },
    { of: "image", usd: 0.0753 },
    { of: "input_image", usd: 0.00198 },
    { of: "prompt_character", usd: 0.0000018 },
  ],
};

const tokens = (input: number, cached: number, output: number, most: number): PublishedPrice => ({
  rows: [
    { of: "input_token", usd: input },
    { of: "cached_input_token", usd: cached },
    { of: "output_token", usd: output },
  ],
  ...atMost(most, "call"),
});

const erase = (rows: PriceRow[], most: number): PublishedPrice => ({
  rows: [{ of: "first_megapixel", usd: 0.03 }, { of: "further_megapixel", usd: 0.004 }, ...rows],
  ...atMost(most, "image"),
});

const PUBLISHED: Readonly<Record<string, readonly PriceList[]>> = {
  bfl: [
    {
      ...{ as_of: "2026-11-18", source: "https://bfl.ai/pricing", confidence: "official" },
      prices: { "flux-kontext-max": perImage(0.08), "flux-pro-1.0-fill": perImage(0.05) },
    },
    {
      ...{ as_of: "2026-11-18", source: "https://bfl.ai/pricing, transcribed", confidence: "third_party" },
      prices: { "flux-dev": perImage(0.025) },
    },
    {
      ...{ as_of: "2026-10-07", source: "https://bfl.ai/pricing, transcribed", confidence: "third_party" },
      prices: { "flux-tools/erase-v1": erase([], 0.062) },
    },
  ],
  fal: [
    {
      ...{ as_of: "2026-10-07", source: "https://fal.ai/models, page of the model", confidence: "official" },
      prices: {
        "fal-ai/object-removal": perImage(0.024),
        // The source is billed too, with at least three megapixels.
        "fal-ai/flux-pro/v1/erase": erase([{ of: "input_megapixel", usd: 0.004 }], 0.098),
      },
    },
    {
      ...{ as_of: "2026-10-20", source: "https://fal.ai/learn/tools/nano-banana-api", confidence: "official" },
      prices: { "google/nano-banana-2.1": NANO_BANANA_AT_FAL, "google/nano-banana-2.1/edit": NANO_BANANA_AT_FAL },
    },
    {
      ...{ as_of: "2026-11-18", source: "https://fal.ai/models, page of the model", confidence: "third_party" },
      prices: {
        "openai/gpt-image-2.5/flare/text-to-image": GPT_IMAGE_AT_FAL,
        "openai/gpt-image-2.5/flare/edit": GPT_IMAGE_AT_FAL,
      },
    },
    {
      ...{ as_of: "2026-08-21", source: "https://fal.ai/models, page of the model", confidence: "official" },
      prices: {
        "fal-ai/luma-photon/reframe": perMegapixel(0.019),
        "fal-ai/luma-photon/flash/reframe": perMegapixel(0.005),
        "fal-ai/ideogram/character": bySpeed(0.1, 0.15, 0.2),
        "fal-ai/sam-3/image": one(0.005, "call"),
      },
    },
    {
      ...{ as_of: "2026-11-18", source: "https://fal.ai/models, transcribed", confidence: "third_party" },
      prices: {
        "fal-ai/flux/dev": perWholeMegapixel(0.025),
        "fal-ai/flux-lora": perWholeMegapixel(0.035),
        "fal-ai/nano-banana-2": by("resolution", { "0.5K": 0.06, "2K": 0.12, "4K": 0.16 }, 0.08),
        "fal-ai/nano-banana-2/edit": by("resolution", { "0.5K": 0.06, "2K": 0.12, "4K": 0.16 }, 0.08),
        "fal-ai/imagen4/preview": perImage(0.04),
        "fal-ai/moondream3-preview/caption": {
          rows: [
            { of: "input_token", usd: 0.0000004 },
            { of: "output_token", usd: 0.0000035 },
          ],
          ...atMost(0.01, "call"),
        },
      },
    },
    {
      ...{ as_of: "2026-10-07", source: "https://fal.ai/models, transcribed", confidence: "third_party" },
      prices: {
        "fal-ai/bria/eraser": perImage(0.04),
        "fal-ai/flux-pro/v1/fill": perWholeMegapixel(0.05),
      },
    },
    {
      ...{ as_of: "2026-07-20", source: "https://fal.ai/models, transcribed", confidence: "third_party" },
      prices: {
        // At high quality, which is the default. Texts and source images come on top.
        "fal-ai/gpt-image-1.5": { ...by("size", { "1024x1024": 0.133 }, 0.2), ...atMost(0.25, "image") },
        "fal-ai/gpt-image-1.5/edit": { ...by("size", { "1024x1024": 0.133 }, 0.2), ...atMost(0.35, "image") },
        "fal-ai/qwen-image": perWholeMegapixel(0.02),
      },
    },
    {
      ...{ as_of: "2026-08-21", source: "fal's price API, as others recorded it", confidence: "third_party" },
      prices: {
        "fal-ai/flux/dev/image-to-image": perWholeMegapixel(0.03),
        "fal-ai/flux-pro/kontext/max": perImage(0.08),
        "fal-ai/flux-pro/kontext/max/multi": perImage(0.08),
        "fal-ai/flux-pro/kontext/max/text-to-image": perImage(0.08),
        "fal-ai/ideogram/v3": bySpeed(0.03, 0.06, 0.09),
        "fal-ai/evf-sam": { ...one(0.005, "call"), ...atMost(0.01, "call") },
        // Ten and twenty seconds of computing.
        "fal-ai/birefnet/v2": { ...one(0.0008, "compute_second"), ...atMost(0.008, "call") },
        "fal-ai/esrgan": { ...one(0.00111, "compute_second"), ...atMost(0.0222, "call") },
      },
    },
    {
      ...{ as_of: "2026-11-18", source: "prices of similar models of fal", confidence: "inferred" },
      prices: {
        "fal-ai/flux-lora/image-to-image": { ...perWholeMegapixel(0.035), ...atMost(0.04, "whole_megapixel") },
        "fal-ai/qwen-image-edit-lora": { ...perWholeMegapixel(0.035), ...atMost(0.04, "whole_megapixel") },
        "fal-ai/wan/v2.2-a14b/text-to-image/lora": onlyBound(0.1, "image"),
        "fal-ai/wan/v2.2-5b/image-to-video": onlyBound(0.081, "second"),
        "fal-ai/ideogram/character/remix": bySpeed(0.1, 0.15, 0.2),
        "fal-ai/ideogram/character/edit": bySpeed(0.1, 0.15, 0.2),
        // The model is a setting of the operator: the bound is that of 65,536 tokens of gemini-3.8-flash.
        "openrouter/router": onlyBound(0.25, "call"),
      },
    },
  ],
  gemini: [
    {
      as_of: "2026-11-18",
      source: "https://ai.google.dev/gemini-api/docs/pricing, transcribed",
      confidence: "third_party",
      prices: {
        "gemini-nano-banana-2.1": NANO_BANANA,
        "gemini-3.8-flash": tokens(0.00000075, 0.000000075, 0.00000375, 0.2758),
      },
    },
  ],
  ideogram: [
    {
      ...{ as_of: "2026-11-18", source: "https://ideogram.ai/features/api-pricing", confidence: "official" },
      prices: {
        "ideogram-v3": [
          { tasks: ["image.character"], ...bySpeed(0.1, 0.15, 0.2) },
          { tasks: ["image.edit"], ...bySpeed(0.03, 0.06, 0.09) },
        ],
      },
    },
    {
      ...{ as_of: "2026-11-18", source: "the dearest default of Ideogram's price page", confidence: "inferred" },
      prices: { "remove-background": onlyBound(0.06, "image"), describe: onlyBound(0.06, "call") },
    },
  ],
  luma: [
    {
      ...{ as_of: "2026-08-21", source: "https://lumalabs.ai/api/pricing, transcribed", confidence: "third_party" },
      // Whether reframing costs as much as generating is not said: the bound is fal's price for it.
      prices: {
        "photon-1": { ...perMegapixel(0.0073), ...atMost(0.019, "megapixel") },
        "photon-flash-1": { ...perMegapixel(0.0019), ...atMost(0.005, "megapixel") },
      },
    },
    {
      ...{ as_of: "2026-08-21", source: "prices of a reseller without its margin", confidence: "inferred" },
      prices: { "ray-2": perSecond(0.1417) },
    },
  ],
  openai: [
    {
      as_of: "2026-11-18",
      source: "https://developers.openai.com/api/docs/pricing, transcribed",
      confidence: "third_party",
      prices: { "gpt-image-2.5-flare": GPT_IMAGE, "gpt-image-2.5-sunburst": GPT_IMAGE, "gpt-image-1.5": GPT_IMAGE_15 },
    },
    {
      as_of: "2026-11-18",
      source: "https://developers.openai.com/api/docs/models/gpt-5.6-luna",
      confidence: "official",
      prices: { "gpt-5.6-luna": tokens(0.0000002, 0.00000002, 0.0000012, 0.1616) },
    },
  ],
  replicate: [
    {
      ...{ as_of: "2026-08-21", source: "https://replicate.com, page of the model, transcribed" },
      confidence: "third_party",
      prices: {
        "black-forest-labs/flux-dev": perImage(0.025),
        "black-forest-labs/flux-kontext-max": perImage(0.08),
        "google/imagen-4": perImage(0.04),
        "bria/remove-background": perImage(0.018),
      },
    },
    {
      ...{ as_of: "2026-09-24", source: "https://replicate.com, page of the model, transcribed" },
      confidence: "third_party",
      prices: {
        "google/nano-banana-2": by("resolution", { "2K": 0.101, "4K": 0.151 }, 0.067),
        "qwen/qwen-image-edit-plus": perImage(0.03),
      },
    },
    {
      ...{ as_of: "2026-10-05", source: "https://replicate.com, page of the model, transcribed" },
      confidence: "third_party",
      prices: {
        "flux-kontext-apps/multi-image-kontext-max": perImage(0.08),
        // At high quality, which is sent. Size and source images don't count.
        "openai/gpt-image-2.5-flare": perImage(0.128),
        "openai/gpt-image-2": perImage(0.128),
        // At high quality, which `auto` counts as. Size and source images don't count.
        "openai/gpt-image-1.5": perImage(0.136),
        "ideogram-ai/ideogram-character": bySpeed(0.1, 0.15, 0.2),
        "luma/reframe-image": by("model", { "photon-1": 0.03 }, 0.01),
        "bria/eraser": perImage(0.04),
        "kwaivgi/kling-v2.1": perSecond(0.05),
        // In the mode `standard` and without sound, which are sent.
        "kwaivgi/kling-v3-video": perSecond(0.168),
      },
    },
    {
      ...{ as_of: "2026-10-08", source: "a public table of Replicate's prices", confidence: "third_party" },
      // At 4K, Google's own tokens: no source has that price.
      prices: { "google/nano-banana-2.1": by("resolution", { "2K": 0.0504, "4K": 0.1134 }, 0.0336) },
    },
    {
      ...{ as_of: "2025-12-01", source: "a public list of Replicate's models", confidence: "third_party" },
      prices: { "google/upscaler": { ...perImage(0.02), ...atMost(0.04, "image") } },
    },
    {
      ...{ as_of: "2026-10-05", source: "prices of similar models of Replicate", confidence: "inferred" },
      prices: {
        "runwayml/gen4-image": by("resolution", { "720p": 0.05 }, 0.08),
        "bria/genfill": perImage(0.04),
        // A community model is billed by the time of its GPU.
        "mattsays/sam3-image:latest": { ...one(0.000975, "compute_second"), ...atMost(0.03, "call") },
      },
    },
  ],
  runway: [
    {
      as_of: "2026-11-18",
      source: "https://docs.dev.runwayml.com/guides/pricing",
      confidence: "official",
      prices: {
        gen4_image: by("resolution", { "720p": 0.05 }, 0.08),
        gen4_turbo: perSecond(0.05),
        "gen4.5": perSecond(0.12),
        gen4_image_turbo: perImage(0.02),
        // Without sound.
        "veo3.1": perSecond(0.2),
        "veo3.1_fast": perSecond(0.1),
      },
    },
    {
      ...{ as_of: "2026-09-29", source: "OpenAI's price of the same model with a margin", confidence: "inferred" },
      // The ended task says its credits.
      prices: {
        gpt_image_2: { ...one(1, "dollar"), ...atMost(0.45, "image") },
        // Each image that is sent costs a credit per image that is made.
        gpt_image_2_5_flare: { ...one(1, "dollar"), ...atMost(0.61, "image") },
      },
    },
  ],
};

/** Null if no price is published. */
export function publishedPrice(provider: string, upstreamModel: string, task: string): Price | null {
  for (const { prices, ...list } of PUBLISHED[provider] ?? []) {
    const found = [prices[upstreamModel] ?? []].flat().find(({ tasks }) => tasks?.includes(task) ?? true);
    if (found) return { rows: found.rows, ...(found.most && { most: found.most }), ...list };
  }
  return null;
}

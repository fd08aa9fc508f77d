// The names of models as people know them. Providers have several paths for one model, such as one for text and one for
// images; a name means all of them.

export type NamedModel = {
  name: string;
  /** Who made the model, which is not always the provider that runs it. */
  vendor: string;
  /** `<provider>:<path>` of each built-in offer. */
  paths: readonly string[];
};

export const NAMED_MODELS: readonly NamedModel[] = [
  {
    name: "FLUX.1 [dev]",
    vendor: "Black Forest Labs",
    paths: [
      ...["bfl:flux-dev", "replicate:black-forest-labs/flux-dev", "comfyui:flux-dev", "comfyui:flux-dev-lora"],
      ...["comfyui:flux-dev-image", "comfyui:flux-dev-image-lora", "fal:fal-ai/flux/dev"],
      ...["fal:fal-ai/flux/dev/image-to-image", "fal:fal-ai/flux-lora", "fal:fal-ai/flux-lora/image-to-image"],
    ],
  },
  {
    name: "FLUX.1 Kontext [max]",
    vendor: "Black Forest Labs",
    paths: [
      ...["bfl:flux-kontext-max", "replicate:black-forest-labs/flux-kontext-max"],
      ...["fal:fal-ai/flux-pro/kontext/max/text-to-image", "fal:fal-ai/flux-pro/kontext/max"],
      ...["fal:fal-ai/flux-pro/kontext/max/multi", "replicate:flux-kontext-apps/multi-image-kontext-max"],
    ],
  },
  {
    name: "FLUX.1 Fill [pro]",
    vendor: "Black Forest Labs",
    paths: ["bfl:flux-pro-1.0-fill", "fal:fal-ai/flux-pro/v1/fill"],
  },
  {
    name: "FLUX Erase",
    vendor: "Black Forest Labs",
    paths: ["bfl:flux-tools/erase-v1", "fal:fal-ai/flux-pro/v1/erase"],
  },
  {
    name: "GPT Image 2.5 Flare",
    vendor: "OpenAI",
    paths: [
      ...["openai:gpt-image-2.5-flare", "runway:gpt_image_2_5_flare", "replicate:openai/gpt-image-2.5-flare"],
      ...["fal:openai/gpt-image-2.5/flare/text-to-image", "fal:openai/gpt-image-2.5/flare/edit"],
    ],
  },
  { name: "GPT Image 2.5 Sunburst", vendor: "OpenAI", paths: ["openai:gpt-image-2.5-sunburst"] },
  { name: "GPT Image 2", vendor: "OpenAI", paths: ["runway:gpt_image_2", "replicate:openai/gpt-image-2"] },
  {
    name: "GPT Image 1.5",
    vendor: "OpenAI",
    paths: [
      ...["openai:gpt-image-1.5", "replicate:openai/gpt-image-1.5"],
      ...["fal:fal-ai/gpt-image-1.5", "fal:fal-ai/gpt-image-1.5/edit"],
    ],
  },
  { name: "GPT 5.6 Luna", vendor: "OpenAI", paths: ["openai:gpt-5.6-luna"] },
  {
    name: "Nano Banana 2",
    vendor: "Google",
    paths: ["fal:fal-ai/nano-banana-2", "fal:fal-ai/nano-banana-2/edit", "replicate:google/nano-banana-2"],
  },
  {
    name: "Nano Banana 2.1",
    vendor: "Google",
    paths: [
      ...["gemini:gemini-nano-banana-2.1", "replicate:google/nano-banana-2.1"],
      ...["fal:google/nano-banana-2.1", "fal:google/nano-banana-2.1/edit"],
    ],
  },
  { name: "Imagen 4", vendor: "Google", paths: ["fal:fal-ai/imagen4/preview", "replicate:google/imagen-4"] },
  { name: "Veo 3.1", vendor: "Google", paths: ["runway:veo3.1"] },
  { name: "Veo 3.1 Fast", vendor: "Google", paths: ["runway:veo3.1_fast"] },
  { name: "Google Upscaler", vendor: "Google", paths: ["replicate:google/upscaler"] },
  { name: "Gemini 3.8 Flash", vendor: "Google", paths: ["gemini:gemini-3.8-flash"] },
  { name: "Wan 2.1 Image", vendor: "Alibaba", paths: ["comfyui:wan-image-2.1"] },
  {
    name: "Wan 2.2 Image",
    vendor: "Alibaba",
    paths: ["comfyui:wan-image-2.2", "fal:fal-ai/wan/v2.2-a14b/text-to-image/lora"],
  },
  {
    name: "Wan 2.2 Video",
    vendor: "Alibaba",
    paths: ["comfyui:wan-video-2.2", "fal:fal-ai/wan/v2.2-5b/image-to-video"],
  },
  {
    name: "Qwen Image Edit",
    vendor: "Alibaba",
    paths: ["comfyui:qwen-image-edit", "fal:fal-ai/qwen-image-edit-lora", "replicate:qwen/qwen-image-edit-plus"],
  },
  { name: "Qwen Image", vendor: "Alibaba", paths: ["fal:fal-ai/qwen-image"] },
  { name: "Kling 3", vendor: "Kuaishou", paths: ["replicate:kwaivgi/kling-v3-video"] },
  { name: "Kling 2.1", vendor: "Kuaishou", paths: ["replicate:kwaivgi/kling-v2.1"] },
  {
    name: "Ideogram 3",
    vendor: "Ideogram",
    paths: [
      ...["ideogram:ideogram-v3", "fal:fal-ai/ideogram/v3", "fal:fal-ai/ideogram/character"],
      ...["fal:fal-ai/ideogram/character/remix", "fal:fal-ai/ideogram/character/edit"],
      "replicate:ideogram-ai/ideogram-character",
    ],
  },
  { name: "Ideogram Remove Background", vendor: "Ideogram", paths: ["ideogram:remove-background"] },
  { name: "Ideogram Describe", vendor: "Ideogram", paths: ["ideogram:describe"] },
  { name: "Luma Photon", vendor: "Luma", paths: ["luma:photon-1", "fal:fal-ai/luma-photon/reframe"] },
  { name: "Luma Photon Flash", vendor: "Luma", paths: ["luma:photon-flash-1", "fal:fal-ai/luma-photon/flash/reframe"] },
  { name: "Luma Reframe", vendor: "Luma", paths: ["replicate:luma/reframe-image"] },
  { name: "Ray 2", vendor: "Luma", paths: ["luma:ray-2"] },
  { name: "Runway Gen-4 Image", vendor: "Runway", paths: ["runway:gen4_image", "replicate:runwayml/gen4-image"] },
  { name: "Runway Gen-4 Image Turbo", vendor: "Runway", paths: ["runway:gen4_image_turbo"] },
  { name: "Runway Gen-4 Turbo", vendor: "Runway", paths: ["runway:gen4_turbo"] },
  { name: "Runway Gen-4.5", vendor: "Runway", paths: ["runway:gen4.5"] },
  { name: "Bria Eraser", vendor: "Bria", paths: ["replicate:bria/eraser", "fal:fal-ai/bria/eraser"] },
  { name: "Bria Remove Background", vendor: "Bria", paths: ["replicate:bria/remove-background"] },
  { name: "Bria GenFill", vendor: "Bria", paths: ["replicate:bria/genfill"] },
  { name: "SAM 3", vendor: "Meta", paths: ["fal:fal-ai/sam-3/image", "replicate:mattsays/sam3-image:latest"] },
  { name: "EVF-SAM", vendor: "HUST", paths: ["fal:fal-ai/evf-sam"] },
  { name: "BiRefNet 2", vendor: "BiRefNet", paths: ["fal:fal-ai/birefnet/v2"] },
  { name: "IS-Net", vendor: "IS-Net", paths: ["local-models:isnet"] },
  { name: "Telea Inpainting", vendor: "OpenCV", paths: ["local-models:telea"] },
  { name: "Real-ESRGAN", vendor: "Tencent", paths: ["local-models:esrgan", "fal:fal-ai/esrgan"] },
  { name: "fal Object Removal", vendor: "fal", paths: ["fal:fal-ai/object-removal"] },
  { name: "Moondream 3", vendor: "Moondream", paths: ["fal:fal-ai/moondream3-preview/caption"] },
  { name: "OpenRouter", vendor: "OpenRouter", paths: ["fal:openrouter/router"] },
];

/** How a name is written in requests: `GPT Image 2.5 Flare` is `gpt-image-2.5-flare`. */
export const toModelId = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^-+|-+$/g, "");

const BY_PATH = new Map(NAMED_MODELS.flatMap((model) => model.paths.map((path) => [path, model] as const)));

/** Undefined for what the operator added, and for the sandbox. */
export const findNamedModel = (provider: string, upstreamModel: string): NamedModel | undefined =>
  BY_PATH.get(`${provider}:${upstreamModel}`);

// The nodes of a ComfyUI server without extensions, as far as the workflows use them: inputs and outputs.
// `/object_info` returns them, and graphs are validated against them.

/**
 * `old` is a server from before `/api/jobs` (0.3). `middle` (0.7) looks up jobs there, but cannot cancel them there and
 * reports an interrupted job as failed.
 */
export type ComfyuiAge = "new" | "middle" | "old";

export type NodeInput = (
  | { kind: "link"; type: string }
  | { kind: "integer" | "number"; least: number; most: number }
  | { kind: "text" }
  | { kind: "choice"; of: readonly string[] }
  | { kind: "file"; folder: string }
  | { kind: "image" }
) & { optional?: true };
export type NodeClass = { inputs: Record<string, NodeInput>; gives: string[]; saves?: true };

const link = (type: string): NodeInput => ({ kind: "link", type });
const integer = (least: number, most: number): NodeInput => ({ kind: "integer", least, most });
const number = (least: number, most: number): NodeInput => ({ kind: "number", least, most });
const choice = (...of: string[]): NodeInput => ({ kind: "choice", of });
const file = (folder: string): NodeInput => ({ kind: "file", folder });
const optional = (input: NodeInput): NodeInput => ({ ...input, optional: true });
const text: NodeInput = { kind: "text" };

const MOST_PIXELS = 16_384;
const side = (least: number) => integer(least, MOST_PIXELS);
const batch = integer(1, 4096);
const seed = integer(0, 2 ** 64);
const SAMPLERS = [
  "euler",
  "euler_ancestral",
  "heun",
  "dpm_2",
  "dpmpp_2m",
  "dpmpp_sde",
  "ddim",
  "uni_pc",
  "res_multistep",
];
const SCHEDULES = ["simple", "sgm_uniform", "karras", "exponential", "ddim_uniform", "beta", "normal"];
const SCALING = ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"];
const sampling = { sampler_name: choice(...SAMPLERS), scheduler: choice(...SCHEDULES) };
const conditioned = {
  model: link("MODEL"),
  positive: link("CONDITIONING"),
  negative: link("CONDITIONING"),
  latent_image: link("LATENT"),
  steps: integer(1, 10_000),
  cfg: number(0, 100),
  ...sampling,
};
const encoder = choice("default", "cpu");

export const BUILT_IN_NODES: Record<string, NodeClass> = {
  UNETLoader: {
    inputs: { unet_name: file("diffusion_models"), weight_dtype: choice("default", "fp8_e4m3fn", "fp8_e5m2") },
    gives: ["MODEL"],
  },
  LoraLoaderModelOnly: {
    inputs: { model: link("MODEL"), lora_name: file("loras"), strength_model: number(-100, 100) },
    gives: ["MODEL"],
  },
  CLIPLoader: {
    inputs: {
      clip_name: file("text_encoders"),
      type: choice("stable_diffusion", "sd3", "flux", "wan", "qwen_image"),
      device: optional(encoder),
    },
    gives: ["CLIP"],
  },
  DualCLIPLoader: {
    inputs: {
      clip_name1: file("text_encoders"),
      clip_name2: file("text_encoders"),
      type: choice("sdxl", "sd3", "flux", "hunyuan_video"),
      device: optional(encoder),
    },
    gives: ["CLIP"],
  },
  VAELoader: { inputs: { vae_name: file("vae") }, gives: ["VAE"] },
  ModelSamplingSD3: { inputs: { model: link("MODEL"), shift: number(0, 100) }, gives: ["MODEL"] },
  ModelSamplingAuraFlow: { inputs: { model: link("MODEL"), shift: number(0, 100) }, gives: ["MODEL"] },
  CFGNorm: { inputs: { model: link("MODEL"), strength: number(0, 100) }, gives: ["MODEL"] },
  CLIPTextEncode: { inputs: { clip: link("CLIP"), text }, gives: ["CONDITIONING"] },
  TextEncodeQwenImageEdit: {
    inputs: { clip: link("CLIP"), prompt: text, vae: optional(link("VAE")), image: optional(link("IMAGE")) },
    gives: ["CONDITIONING"],
  },
  FluxGuidance: {
    inputs: { conditioning: link("CONDITIONING"), guidance: number(0, 100) },
    gives: ["CONDITIONING"],
  },
  EmptySD3LatentImage: { inputs: { width: side(16), height: side(16), batch_size: batch }, gives: ["LATENT"] },
  EmptyHunyuanLatentVideo: {
    inputs: { width: side(16), height: side(16), length: side(1), batch_size: batch },
    gives: ["LATENT"],
  },
  Wan22ImageToVideoLatent: {
    inputs: {
      vae: link("VAE"),
      width: side(32),
      height: side(32),
      length: side(1),
      batch_size: batch,
      start_image: optional(link("IMAGE")),
    },
    gives: ["LATENT"],
  },
  RepeatLatentBatch: { inputs: { samples: link("LATENT"), amount: integer(1, 64) }, gives: ["LATENT"] },
  KSampler: { inputs: { ...conditioned, seed, denoise: number(0, 1) }, gives: ["LATENT"] },
  KSamplerAdvanced: {
    inputs: {
      ...conditioned,
      noise_seed: seed,
      add_noise: choice("enable", "disable"),
      start_at_step: integer(0, 10_000),
      end_at_step: integer(0, 10_000),
      return_with_leftover_noise: choice("disable", "enable"),
    },
    gives: ["LATENT"],
  },
  VAEDecode: { inputs: { samples: link("LATENT"), vae: link("VAE") }, gives: ["IMAGE"] },
  VAEEncode: { inputs: { pixels: link("IMAGE"), vae: link("VAE") }, gives: ["LATENT"] },
  LoadImage: { inputs: { image: { kind: "image" } }, gives: ["IMAGE", "MASK"] },
  EmptyImage: {
    inputs: { width: side(1), height: side(1), batch_size: batch, color: integer(0, 0xffffff) },
    gives: ["IMAGE"],
  },
  ImageScale: {
    inputs: {
      image: link("IMAGE"),
      upscale_method: choice(...SCALING),
      width: side(0),
      height: side(0),
      crop: choice("disabled", "center"),
    },
    gives: ["IMAGE"],
  },
  ImageScaleBy: {
    inputs: { image: link("IMAGE"), upscale_method: choice(...SCALING), scale_by: number(0.01, 8) },
    gives: ["IMAGE"],
  },
  CreateVideo: { inputs: { images: link("IMAGE"), fps: number(1, 120) }, gives: ["VIDEO"] },
  SaveImage: { inputs: { images: link("IMAGE"), filename_prefix: text }, gives: [], saves: true },
  // What was one input grew an input of its own inside of it; a graph that names both is read by old servers and new.
  SaveVideo: {
    inputs: {
      video: link("VIDEO"),
      filename_prefix: text,
      format: choice("auto", "mp4"),
      codec: optional(choice("auto", "h264")),
      "format.codec": optional(choice("auto", "h264")),
    },
    gives: [],
    saves: true,
  },
};

/** The model files of a server that has everything, under the names in the official examples. */
export const INSTALLED_FILES: Record<string, string[]> = {
  diffusion_models: [
    "flux1-dev.safetensors",
    "qwen_image_edit_fp8_e4m3fn.safetensors",
    "wan2.1_t2v_14B_fp8_e4m3fn.safetensors",
    "wan2.2_t2v_high_noise_14B_fp8_scaled.safetensors",
    "wan2.2_t2v_low_noise_14B_fp8_scaled.safetensors",
    "wan2.2_ti2v_5B_fp16.safetensors",
  ],
  text_encoders: [
    "clip_l.safetensors",
    "qwen_2.5_vl_7b_fp8_scaled.safetensors",
    "t5xxl_fp16.safetensors",
    "umt5_xxl_fp8_e4m3fn_scaled.safetensors",
  ],
  vae: ["ae.safetensors", "qwen_image_vae.safetensors", "wan2.2_vae.safetensors", "wan_2.1_vae.safetensors"],
  loras: ["our-lora.safetensors", "our-model.safetensors", "style-high.safetensors", "style-low.safetensors"],
};

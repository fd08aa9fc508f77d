// Printed by `npm run generate` from the code; never edited by hand.
import { call, callBoth, callRun, type Call, type PictureFormOperation, type RunFormOperation, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import { address, boolean, file, inline, integer, like, list, needs, number, object, some, text, together, uuid, when, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { FileSource, ImageSource } from "../sources.ts";
import type { BackgroundRemoved, CharacterGeneration, Description, Extraction, Generation, PictureFields, ReferenceGeneration, Run, RunFields, SourceFields, Upload } from "./shapes.ts";

/** What `images.backgroundRemove` takes. */
export type ImagesBackgroundRemoveInput = PictureFields & SourceFields;

/** What `images.character` takes. */
export type ImagesCharacterInput = RunFields & {
  /** What the character does, and where */
  prompt: string;
  /** An image of the character */
  character_reference_image?: ImageSource;
  /** A run whose image shows the character; it becomes the parent */
  character_reference_run_id?: string;
  /** Speed against quality. Default "Default" */
  rendering_speed?: "Default" | "Turbo" | "Quality";
  /** Style of the picture. Default "Auto" */
  style_type?: "Auto" | "Fiction" | "Realistic";
  /** Whether the prompt is made richer. Default "Auto" */
  magic_prompt_option?: "On" | "Off" | "Auto";
  /** Shape of the picture: 1:1, or that of `image`, where nothing is said */
  aspect_ratio?: "1:1" | "16:9" | "9:16" | "4:3" | "3:4" | "3:2" | "2:3";
  /** Longer side in pixels, as text or as a number. Default "auto" */
  resolution?: "auto" | "720" | "1024" | "1280" | "2048" | 720 | 1024 | 1280 | 2048;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
  /** Background or context that the character is put into */
  image?: ImageSource;
  /** Mask of `image`: white is where the character may be */
  mask?: ImageSource;
};

/** What `images.character` takes as a form. */
export type ImagesCharacterForm = ImagesCharacterInput & {
  /** An image of the character as a file; it goes before the others */
  character_reference_file?: FileSource | string;
};

/** What `images.combine` takes. */
export type ImagesCombineInput = RunFields & {
  /** The images, in their order */
  images: ImageSource[];
  /** How they are laid. Default "side-by-side" */
  mode?: "side-by-side" | "stacked" | "grid" | "overlay";
  /** Pixels between neighbours. 0 to 512. Default 0 */
  gap?: number;
  /** Where no image is: transparent (white in a JPEG), or #rrggbb */
  background?: string;
  /** Of the upper images in overlay. 0 to 1. Default 1 */
  opacity?: number;
  /** Kind of file. Default "png" */
  output_format?: "png" | "jpeg" | "webp";
};

/** What `images.combine.gemini25` takes. */
export type ImagesCombineGemini25Input = RunFields & {
  /** What to make of the images */
  prompt: string;
  /** Addresses of images */
  image_urls?: ImageSource[];
  /** Runs whose images are used */
  run_ids?: string[];
  /** Images of any kind, in their order */
  images?: ImageSource[];
  /** Shape of the picture, such as 16:9 */
  aspect_ratio?: string;
};

/** What `images.combine.nanobanana` takes. */
export type ImagesCombineNanobananaInput = ImagesCombineGemini25Input;

/** What `images.describe` takes. */
export type ImagesDescribeInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is described; it becomes the parent */
  run_id?: string;
  /** How much is said. Default "normal" */
  detail?: "short" | "normal" | "long";
  /** Language of the description, such as en or de */
  language?: string;
};

/** What `images.describe` takes as a form. */
export type ImagesDescribeForm = ImagesDescribeInput & {
  /** The image as a file; it goes before the others */
  image?: FileSource | string;
};

/** What `images.edit.fluxKontext` takes. */
export type ImagesEditFluxKontextInput = RunFields & {
  /** The run whose image is edited; it becomes the parent */
  original_run_id: string;
  /** What to change */
  prompt: string;
  /** Shape of the result; that of the source where nothing is said. Default "match_input_image" */
  aspect_ratio?: "match_input_image" | "1:1" | "16:9" | "9:16" | "4:3" | "3:4" | "3:2" | "2:3" | "4:5" | "5:4" | "21:9" | "9:21" | "2:1" | "1:2";
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
  /** The model that edits; needed in JSON. Default "flux-kontext-max" */
  model: "flux-kontext-max";
};

/** What `images.edit.fluxKontext` takes as a form. */
export type ImagesEditFluxKontextForm = Omit<ImagesEditFluxKontextInput, "model"> & {
  /** The model that edits; needed in JSON. Default "flux-kontext-max" */
  model?: "flux-kontext-max";
};

/** What `images.edit.gemini25` takes. */
export type ImagesEditGemini25Input = ImagesEditNanobananaInput & {
  /** Mask of the same size: white is what changes */
  mask_url?: ImageSource;
};

/** What `images.edit.gemini25` takes as a form. */
export type ImagesEditGemini25Form = ImagesEditGemini25Input & {
  /** The image that is edited; it goes before the others */
  image?: FileSource | string;
  /** Mask as a file; it goes before mask_url */
  mask?: FileSource | string;
};

/** What `images.edit.nanobanana` takes. */
export type ImagesEditNanobananaInput = RunFields & {
  /** What to change */
  prompt: string;
  /** The image that is edited */
  image_url?: ImageSource;
  /** The run whose image is edited; it becomes the parent */
  run_id?: string;
  /** An image that the result should take after */
  reference_image_url?: ImageSource;
  /** Use reference_image_url @deprecated */
  reference_url?: ImageSource;
  /** Shape of the picture, such as 16:9 */
  aspect_ratio?: string;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
};

/** What `images.edit.nanobanana` takes as a form. */
export type ImagesEditNanobananaForm = ImagesEditNanobananaInput & {
  /** The image that is edited; it goes before the others */
  image?: FileSource | string;
};

/** What `images.edit.vendora` takes. */
export type ImagesEditVendoraInput = ImagesEditGemini25Input & {
  /** How many images. 1 to 4. Default 1 */
  n?: number;
};

/** What `images.edit.vendora` takes as a form. */
export type ImagesEditVendoraForm = ImagesEditVendoraInput & {
  /** The image that is edited; it goes before the others */
  image?: FileSource | string;
  /** Mask as a file; it goes before mask_url */
  mask?: FileSource | string;
};

/** What `images.extract` takes. */
export type ImagesExtractInput = RunFields & SourceFields & {
  /** What to cut out */
  prompt: string;
  /** The object cut out (extract, or content, which is the same), or its mask. Default "extract" */
  mode?: "extract" | "content" | "mask";
  /** All that the prompt fits, each by itself, not only the best match. Default false */
  multiple?: boolean;
  /** Transparent parts of the source stay transparent. Default true */
  preserve_alpha?: boolean;
  /** Everything except what the prompt names. Default false */
  invert?: boolean;
};

/** What `images.genRemove` takes. */
export type ImagesGenRemoveInput = RunFields & SourceFields & {
  /** What to take out */
  prompt: string;
  /** Its shadow goes with it. Default true */
  remove_shadow?: boolean;
  /** All that the prompt fits, not only the best match. Default false */
  multiple?: boolean;
};

/** What `images.generate` takes. */
export type ImagesGenerateInput = RunFields & {
  /** What the picture shows */
  prompt: string;
  /** The model that makes the picture. Default "flux-dev" */
  model_type?: "flux-dev" | "vendorb-imagen4" | "flux-kontext-max" | "vendora" | "wan-image-2.1" | "wan-image-2.2" | "flux-kontext-multi" | "nanobanana" | "qwen-image-edit" | "gemini-2.5" | "vendorc";
  /** A custom or fine-tuned model of yours */
  model_id?: string;
  /** Use model_type @deprecated */
  workflow_type?: "default" | "wan" | "wan-image-2.2";
  /** Width in pixels. 64 to 2048 */
  width?: number;
  /** Height in pixels. 64 to 2048 */
  height?: number;
  /** Shape of the picture, such as 16:9 */
  aspect_ratio?: string;
  /** How strongly the custom model shows. 0 to 2. Default 1 */
  strength_model?: number;
  /** Weight of the custom model. 0 to 1. Default 0.7 */
  model_weight?: number;
  /** How closely the prompt is followed. 0 to 100. Default 7.5 */
  guidance?: number;
  /** LoRA of the low-noise half */
  lora_low_name?: string;
  /** LoRA of the high-noise half */
  lora_high_name?: string;
  /** Strength of the low-noise LoRA. 0 to 2. Default 0.5 */
  lora_low_strength?: number;
  /** Strength of the high-noise LoRA. 0 to 2. Default 1 */
  lora_high_strength?: number;
  /** LoRA for qwen-image-edit */
  lora_1?: string;
  /** Reference or style image */
  reference_image_url?: ImageSource;
  /** Source images */
  image_urls?: ImageSource[];
  /** Runs whose images are sources */
  run_ids?: string[];
  /** Mask: white is what changes */
  mask_url?: ImageSource;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
  /** What the picture must not show */
  negative_prompt?: string;
  /** Sampler of the model */
  scheduler?: string;
  /** Sampling steps. 1 to 100 */
  steps?: number;
  /** Classifier-free guidance. 0 to 30 */
  cfg_scale?: number;
  /** How many images. 1 to 4. Default 1 */
  batch_size?: number;
  /** How many batches. 1 to 4 */
  batch_count?: number;
  /** Enlarge the result. 1 to 4 */
  upscale_factor?: number;
};

/** What `images.reference` takes. */
export type ImagesReferenceInput = RunFields & {
  /** What the picture shows; @tag stands for a tagged image */
  prompt: string;
  /** The images that the prompt speaks of; in a form as JSON text. Default [] */
  images?: Array<{
      /** The image: address, base64 or run id */
      image_reference: ImageSource;
      /** What the prompt calls it, without the @ */
      tag: string;
    }>;
  /** Shape of the picture; the model's own where nothing is said */
  aspect_ratio?: "16:9" | "9:16" | "4:3" | "3:4" | "1:1" | "21:9";
  /** Size of the picture; the model's own where nothing is said */
  resolution?: "720p" | "1080p";
};

/** What `images.reframe` takes. */
export type ImagesReframeInput = RunFields & SourceFields & {
  /** What the new area shows */
  prompt?: string;
  /** The new shape, such as 16:9 */
  aspect_ratio: string;
  /** photon-flash-1 is faster, photon-1 better. Default "photon-flash-1" */
  model?: "photon-flash-1" | "photon-1";
  /** Where the image lies in the new frame, from the left. -32768 to 32768 */
  grid_position_x?: number;
  /** Where the image lies in the new frame, from the top. -32768 to 32768 */
  grid_position_y?: number;
  /** Left edge of the new frame, counted from the image's own left edge. -32768 to 32768 */
  x_start?: number;
  /** Right edge of the new frame. -32768 to 32768 */
  x_end?: number;
  /** Upper edge of the new frame, counted from the image's own upper edge. -32768 to 32768 */
  y_start?: number;
  /** Lower edge of the new frame. -32768 to 32768 */
  y_end?: number;
};

/** What `images.reframe` takes as a form. */
export type ImagesReframeForm = ImagesReframeInput & {
  /** The image as a file; it goes before the others */
  image_file?: FileSource | string;
};

/** What `images.removeBackground` takes. */
export type ImagesRemoveBackgroundInput = PictureFields & {
  /** The image */
  imageUrl?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
};

/** What `images.removeBackground` takes as a form. */
export type ImagesRemoveBackgroundForm = ImagesRemoveBackgroundInput & {
  /** The image as a file; it goes before the others */
  image: FileSource | string;
  /** Name of the file, for your own records */
  filename?: string;
};

/** What `images.segmentImage` takes. */
export type ImagesSegmentImageInput = PictureFields & {
  /** What to find */
  prompt: string;
  /** The image */
  imageUrl?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
};

/** What `images.segmentImage` takes as a form. */
export type ImagesSegmentImageForm = ImagesSegmentImageInput & {
  /** The image as a file; it goes before the others */
  image: FileSource | string;
  /** Name of the file, for your own records */
  filename?: string;
};

/** What `images.upload` takes. */
export type ImagesUploadInput = RunFields & {
  /** The image: JPEG, PNG or WebP, at most 25 MiB */
  file: FileSource | string;
  /** What the image is */
  description?: string;
  /** The run that the image belongs to */
  parent_id?: string;
};

/** What `images.uploadMask` takes. */
export type ImagesUploadMaskInput = ImagesUploadInput;

/** What `images.upscale` takes. */
export type ImagesUpscaleInput = RunFields & SourceFields & {
  /** How many times larger each side becomes. Default 2 */
  factor?: 2 | 4;
};

/** What `images.upscale` takes as a form. */
export type ImagesUpscaleForm = ImagesUpscaleInput & {
  /** The image as a file; it goes before the others */
  image?: FileSource | string;
};

/** What `images.vary` takes. */
export type ImagesVaryInput = RunFields & SourceFields & {
  /** How many variations. 1 to 4. Default 2 */
  n?: number;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
};

/** What `images.vary` takes as a form. */
export type ImagesVaryForm = ImagesVaryInput & {
  /** The image as a file; it goes before the others */
  image?: FileSource | string;
};

/** The operations `images.*`. */
export type Images = {
  /**
   * Take the background away; answers the address of the transparent image.
   * - Give at least one of image_url, run_id.
   * @example await client.images.backgroundRemove({ image_url: "https://example.com/portrait.png" })
   */
  backgroundRemove: RunOperation<ImagesBackgroundRemoveInput, BackgroundRemoved>;
  /**
   * Make images of one and the same character.
   * @example await client.images.character({ prompt: "reading in a cafe", character_reference_image: "https://example.com/portrait.png", seed: 7 })
   */
  character: RunFormOperation<ImagesCharacterInput, CharacterGeneration, ImagesCharacterForm>;
  /**
   * Lay two to ten images out in one: side by side, stacked, in a grid or one upon the other.
   * @example await client.images.combine({ images: ["https://example.com/lamp.png","https://example.com/desk.png"], mode: "side-by-side", gap: 8 })
   */
  combine: RunFormOperation<ImagesCombineInput, Generation> & {
    /**
     * Make one image out of several, as the prompt says, with gemini-2.5.
     * - image_urls, run_ids, images have 2 to 10 entries together.
     * @example await client.images.combine.gemini25({ prompt: "put the lamp on the desk", image_urls: ["https://example.com/lamp.png","https://example.com/desk.png"] })
     */
    gemini25: RunFormOperation<ImagesCombineGemini25Input, Generation>;
    /**
     * Make one image out of several, as the prompt says, with nanobanana.
     * - image_urls, run_ids, images have 2 to 10 entries together.
     * @example await client.images.combine.nanobanana({ prompt: "put the lamp on the desk", image_urls: ["https://example.com/lamp.png","https://example.com/desk.png"] })
     */
    nanobanana: RunFormOperation<ImagesCombineNanobananaInput, Generation>;
  };
  /**
   * Say what an image shows.
   * - Give at least one of image_url, run_id, image.
   * @example await client.images.describe({ image_url: "https://example.com/desk.png", detail: "short", sync: true })
   */
  describe: RunFormOperation<ImagesDescribeInput, Description, ImagesDescribeForm>;
  edit: {
    /**
     * Edit the image of an earlier run in words.
     * - In JSON: Give model.
     * @example await client.images.edit.fluxKontext({ original_run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", prompt: "make it snow", model: "flux-kontext-max" })
     */
    fluxKontext: RunFormOperation<ImagesEditFluxKontextInput, Run, ImagesEditFluxKontextForm>;
    /**
     * Edit an image in words with gemini-2.5, within a mask if you like.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.gemini25({ image_url: "https://example.com/desk.png", prompt: "add a plant on the left" })
     */
    gemini25: RunFormOperation<ImagesEditGemini25Input, Generation, ImagesEditGemini25Form>;
    /**
     * Edit an image in words with nanobanana.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.nanobanana({ image_url: "https://example.com/desk.png", prompt: "make it night", seed: 7 })
     */
    nanobanana: RunFormOperation<ImagesEditNanobananaInput, Generation, ImagesEditNanobananaForm>;
    /**
     * Edit an image in words with vendora, within a mask if you like.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.vendora({ image_url: "https://example.com/desk.png", prompt: "make the lamp blue" })
     */
    vendora: RunFormOperation<ImagesEditVendoraInput, Run, ImagesEditVendoraForm>;
  };
  /**
   * Cut out what a prompt names, or answer its masks.
   * - Give at least one of image_url, run_id.
   * @example await client.images.extract({ image_url: "https://example.com/shapes.png", prompt: "the red circle" })
   */
  extract: RunOperation<ImagesExtractInput, Extraction>;
  /**
   * Take something out of an image and fill its place.
   * - Give at least one of image_url, run_id.
   * @example await client.images.genRemove({ image_url: "https://example.com/shapes.png", prompt: "the red circle" })
   */
  genRemove: RunOperation<ImagesGenRemoveInput, Run>;
  /**
   * Take something out of an image and fill its place.
   * The same as `images.genRemove`.
   * - Give at least one of image_url, run_id.
   * @example await client.images.generativeRemove({ image_url: "https://example.com/shapes.png", prompt: "the red circle" })
   */
  generativeRemove: RunOperation<ImagesGenRemoveInput, Run>;
  /**
   * Make images from words.
   * - aspect_ratio required when model_type is vendorb-imagen4.
   * - aspect_ratio is one of 1:1, 16:9, 9:16, 4:3, 3:4, 3:2, 2:3, 4:5, 5:4, 21:9, 9:21, 2:1, 1:2 when model_type is flux-kontext-max.
   * - model_id, width, height required when model_type is wan-image-2.1.
   * - batch_size is always 2 when model_type is wan-image-2.1.
   * - model_id, width, height, lora_low_name, lora_high_name required when model_type is wan-image-2.2.
   * - When model_type is flux-kontext-multi: image_urls, run_ids have 2 to 4 entries together.
   * - width, height required when model_type is qwen-image-edit.
   * - image_urls and run_ids have 2 to 10 entries each when model_type is gemini-2.5.
   * - Give lora_low_name and lora_high_name together or not at all.
   * - workflow_type, which is deprecated, must not contradict model_type.
   * @example await client.images.generate({ prompt: "a red bicycle by the sea", width: 768, height: 512, seed: 7 })
   */
  generate: RunOperation<ImagesGenerateInput, Generation>;
  /**
   * Make an image from words that call other images by tags, such as @hero.
   * @example await client.images.reference({ prompt: "@hero walks along the beach", images: [{"image_reference":"https://example.com/portrait.png","tag":"hero"}] })
   */
  reference: RunFormOperation<ImagesReferenceInput, ReferenceGeneration>;
  /**
   * Give an image another shape; what is new continues it.
   * - Give at least one of image_url, run_id, image_file.
   * - Give x_start and x_end and y_start and y_end together or not at all.
   * @example await client.images.reframe({ image_url: "https://example.com/desk.png", aspect_ratio: "16:9", prompt: "more of the room" })
   */
  reframe: RunFormOperation<ImagesReframeInput, Run, ImagesReframeForm>;
  /**
   * Take the background away; answers a transparent PNG.
   * - In JSON: Give at least one of imageUrl, run_id.
   * - In a form: Give image.
   * @example await client.images.removeBackground({ imageUrl: "https://example.com/portrait.png" })
   */
  removeBackground: PictureFormOperation<ImagesRemoveBackgroundInput, ImagesRemoveBackgroundForm>;
  /**
   * Find what a prompt names in an image; answers its mask, white where it is.
   * - In JSON: Give at least one of imageUrl, run_id.
   * - In a form: Give image.
   * @example await client.images.segmentImage({ prompt: "the red circle", imageUrl: "https://example.com/shapes.png" })
   */
  segmentImage: PictureFormOperation<ImagesSegmentImageInput, ImagesSegmentImageForm>;
  /**
   * Store an image of yours, to be used by later operations.
   * @example await client.images.upload({ file: "desk.png" })
   */
  upload: (input: ImagesUploadInput, options?: CallOptions) => Call<Upload>;
  /**
   * Store a mask: white is what changes, black is kept.
   * @example await client.images.uploadMask({ file: "desk.png" })
   */
  uploadMask: (input: ImagesUploadMaskInput, options?: CallOptions) => Call<Upload>;
  /**
   * Enlarge an image two or four times.
   * - Give at least one of image_url, run_id, image.
   * @example await client.images.upscale({ image_url: "https://example.com/desk.png", factor: 2 })
   */
  upscale: RunFormOperation<ImagesUpscaleInput, Run, ImagesUpscaleForm>;
  /**
   * Make variations of an image.
   * - Give at least one of image_url, run_id, image.
   * @example await client.images.vary({ image_url: "https://example.com/desk.png", n: 2, seed: 7 })
   */
  vary: RunFormOperation<ImagesVaryInput, Run, ImagesVaryForm>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const images = imagesOf(connect({ baseUrl, apiKey }))
 */
export function imagesOf(connection: Connection): Images {
  const run = { sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object };
  const genRemove = callRun(connection, {
    name: "images.genRemove",
    path: "/api/v1/edits/generative-remove",
    bodies: "json",
    creates: true,
    required: ["prompt"],
    fields: { image_url: inline, run_id: uuid, prompt: text(1, 8000), remove_shadow: boolean, multiple: boolean, ...run },
    rules: [some("image_url", "run_id")],
  });
  return {
    backgroundRemove: callRun(connection, {
      name: "images.backgroundRemove",
      path: "/api/v1/edits/background-remove",
      bodies: "json",
      creates: true,
      waits: true,
      fields: { image_url: inline, run_id: uuid, ...run },
      rules: [some("image_url", "run_id")],
    }),
    character: callBoth(connection, {
      name: "images.character",
      path: "/api/v1/runs/character",
      bodies: "json form",
      creates: true,
      required: ["prompt"],
      fields: { prompt: text(1, 8000), character_reference_image: inline, character_reference_run_id: uuid, character_reference_file: file, rendering_speed: words("Default", "Turbo", "Quality"), style_type: words("Auto", "Fiction", "Realistic"), magic_prompt_option: words("On", "Off", "Auto"), aspect_ratio: words("1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"), resolution: {"enum":["auto","720","1024","1280","2048",720,1024,1280,2048]}, seed: integer(0, 4294967295), image: inline, mask: inline, ...run },
    }),
    combine: Object.assign(callBoth(connection, {
      name: "images.combine",
      path: "/api/v1/combine",
      bodies: "json form",
      creates: true,
      required: ["images"],
      fields: { images: list(inline, 2, 10), mode: words("side-by-side", "stacked", "grid", "overlay"), gap: integer(0, 512), background: like("^(transparent|#[0-9a-fA-F]{6})$"), opacity: number(0, 1), output_format: words("png", "jpeg", "webp"), ...run },
    }), {
      gemini25: callBoth(connection, {
        name: "images.combine.gemini25",
        path: "/api/v1/combine/gemini-2.5",
        bodies: "json form",
        creates: true,
        required: ["prompt"],
        fields: { prompt: text(1, 8000), image_urls: list(inline, 2, 10), run_ids: list(uuid, 2, 10), images: list(inline, 1, 10), aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), ...run },
        rules: [some("image_urls", "run_ids", "images")],
      }),
      nanobanana: callBoth(connection, {
        name: "images.combine.nanobanana",
        path: "/api/v1/combine/nanobanana",
        bodies: "json form",
        creates: true,
        required: ["prompt"],
        fields: { prompt: text(1, 8000), image_urls: list(inline, 2, 10), run_ids: list(uuid, 2, 10), images: list(inline, 1, 10), aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), ...run },
        rules: [some("image_urls", "run_ids", "images")],
      }),
    }),
    describe: callBoth(connection, {
      name: "images.describe",
      path: "/api/v1/images/describe",
      bodies: "json form",
      creates: true,
      fields: { image_url: inline, run_id: uuid, image: file, detail: words("short", "normal", "long"), language: text(0, 64), ...run },
      rules: [some("image_url", "run_id", "image")],
    }),
    edit: {
      fluxKontext: callBoth(connection, {
        name: "images.edit.fluxKontext",
        path: "/api/v1/edits/flux-kontext",
        bodies: "json form",
        creates: true,
        presets: {"model":"flux-kontext-max"},
        required: ["original_run_id","prompt"],
        fields: { original_run_id: uuid, prompt: text(1, 8000), aspect_ratio: words("match_input_image", "1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "4:5", "5:4", "21:9", "9:21", "2:1", "1:2"), seed: integer(0, 4294967295), model: {"type":"string","const":"flux-kontext-max"}, ...run },
        jsonRules: [needs("model")],
      }),
      gemini25: callBoth(connection, {
        name: "images.edit.gemini25",
        path: "/api/v1/edits/gemini-2.5",
        bodies: "json form",
        creates: true,
        required: ["prompt"],
        fields: { prompt: text(1, 8000), image_url: inline, run_id: uuid, image: file, reference_image_url: inline, reference_url: inline, aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), seed: integer(0, 4294967295), mask_url: inline, mask: file, ...run },
        rules: [some("image_url", "run_id", "image")],
      }),
      nanobanana: callBoth(connection, {
        name: "images.edit.nanobanana",
        path: "/api/v1/edits/nanobanana",
        bodies: "json form",
        creates: true,
        required: ["prompt"],
        fields: { prompt: text(1, 8000), image_url: inline, run_id: uuid, image: file, reference_image_url: inline, reference_url: inline, aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), seed: integer(0, 4294967295), ...run },
        rules: [some("image_url", "run_id", "image")],
      }),
      vendora: callBoth(connection, {
        name: "images.edit.vendora",
        path: "/api/v1/edits/vendora",
        bodies: "json form",
        creates: true,
        required: ["prompt"],
        fields: { prompt: text(1, 8000), image_url: inline, run_id: uuid, image: file, reference_image_url: inline, reference_url: inline, aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), seed: integer(0, 4294967295), mask_url: inline, mask: file, n: integer(1, 4), ...run },
        rules: [some("image_url", "run_id", "image")],
      }),
    },
    extract: callRun(connection, {
      name: "images.extract",
      path: "/api/v1/edits/extract",
      bodies: "json",
      creates: true,
      required: ["prompt"],
      fields: { image_url: inline, run_id: uuid, prompt: text(1, 8000), mode: words("extract", "content", "mask"), multiple: boolean, preserve_alpha: boolean, invert: boolean, ...run },
      rules: [some("image_url", "run_id")],
    }),
    genRemove: genRemove,
    generativeRemove: genRemove,
    generate: callRun(connection, {
      name: "images.generate",
      path: "/api/v1/runs/generate",
      bodies: "json",
      creates: true,
      required: ["prompt"],
      fields: { prompt: text(1, 8000), model_type: words("flux-dev", "vendorb-imagen4", "flux-kontext-max", "vendora", "wan-image-2.1", "wan-image-2.2", "flux-kontext-multi", "nanobanana", "qwen-image-edit", "gemini-2.5", "vendorc"), model_id: uuid, workflow_type: words("default", "wan", "wan-image-2.2"), width: integer(64, 2048), height: integer(64, 2048), aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), strength_model: number(0, 2), model_weight: number(0, 1), guidance: number(0, 100), lora_low_name: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"), lora_high_name: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"), lora_low_strength: number(0, 2), lora_high_strength: number(0, 2), lora_1: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"), reference_image_url: address, image_urls: list(address, 1, 10), run_ids: list(uuid, 1, 10), mask_url: address, seed: integer(0, 4294967295), negative_prompt: text(0, 8000), scheduler: text(0, 128), steps: integer(1, 100), cfg_scale: number(0, 30), batch_size: integer(1, 4), batch_count: integer(1, 4), upscale_factor: number(1, 4), ...run },
      rules: [when("model_type", "vendorb-imagen4", needs("aspect_ratio")), when("model_type", "flux-kontext-max", {"properties":{"aspect_ratio":{"enum":["1:1","16:9","9:16","4:3","3:4","3:2","2:3","4:5","5:4","21:9","9:21","2:1","1:2"]}}}), when("model_type", "wan-image-2.1", needs("model_id", "width", "height")), when("model_type", "wan-image-2.1", {"properties":{"batch_size":{"const":2}}}), when("model_type", "wan-image-2.2", needs("model_id", "width", "height", "lora_low_name", "lora_high_name")), when("model_type", "flux-kontext-multi", some("image_urls", "run_ids")), when("model_type", "qwen-image-edit", needs("width", "height")), when("model_type", "gemini-2.5", {"properties":{"image_urls":{"minItems":2,"maxItems":10},"run_ids":{"minItems":2,"maxItems":10}}}), together("lora_low_name", "lora_high_name")],
    }),
    reference: callBoth(connection, {
      name: "images.reference",
      path: "/api/v1/runs/reference",
      bodies: "json form",
      creates: true,
      required: ["prompt"],
      fields: { prompt: text(1, 8000), images: list({ type: "object", required: ["image_reference","tag"], properties: { image_reference: inline, tag: like("^@?[A-Za-z][A-Za-z0-9_]{2,15}$") } }, 0, 3), aspect_ratio: words("16:9", "9:16", "4:3", "3:4", "1:1", "21:9"), resolution: words("720p", "1080p"), ...run },
    }),
    reframe: callBoth(connection, {
      name: "images.reframe",
      path: "/api/v1/edits/reframe",
      bodies: "json form",
      creates: true,
      required: ["aspect_ratio"],
      fields: { prompt: text(1, 8000), image_url: inline, run_id: uuid, image_file: file, aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), model: words("photon-flash-1", "photon-1"), grid_position_x: integer(-32768, 32768), grid_position_y: integer(-32768, 32768), x_start: integer(-32768, 32768), x_end: integer(-32768, 32768), y_start: integer(-32768, 32768), y_end: integer(-32768, 32768), ...run },
      rules: [some("image_url", "run_id", "image_file"), together("x_start", "x_end", "y_start", "y_end")],
    }),
    removeBackground: callBoth(connection, {
      name: "images.removeBackground",
      path: "/api/v1/edits/remove-bg",
      bodies: "json form",
      creates: true,
      binary: true,
      waits: true,
      fields: { imageUrl: inline, run_id: uuid, image: file, filename: { ...text(0, 255), form: true }, ...run },
      jsonRules: [some("imageUrl", "run_id")],
      formRules: [needs("image")],
    }),
    segmentImage: callBoth(connection, {
      name: "images.segmentImage",
      path: "/api/v1/edits/segment",
      bodies: "json form",
      creates: true,
      binary: true,
      waits: true,
      required: ["prompt"],
      fields: { prompt: text(1, 8000), imageUrl: inline, run_id: uuid, image: file, filename: { ...text(0, 255), form: true }, ...run },
      jsonRules: [some("imageUrl", "run_id")],
      formRules: [needs("image")],
    }),
    upload: call(connection, {
      name: "images.upload",
      path: "/api/v1/upload",
      bodies: "form",
      creates: true,
      required: ["file"],
      fields: { file: file, description: text(0, 2000), parent_id: uuid, sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object },
    }),
    uploadMask: call(connection, {
      name: "images.uploadMask",
      path: "/api/v1/upload",
      bodies: "form",
      creates: true,
      sets: {"isMask":true},
      required: ["file"],
      fields: { file: file, description: text(0, 2000), parent_id: uuid, sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object },
    }),
    upscale: callBoth(connection, {
      name: "images.upscale",
      path: "/api/v1/edits/upscale",
      bodies: "json form",
      creates: true,
      fields: { image_url: inline, run_id: uuid, image: file, factor: { anyOf: [{"type":"number","const":2}, {"type":"number","const":4}] }, ...run },
      rules: [some("image_url", "run_id", "image")],
    }),
    vary: callBoth(connection, {
      name: "images.vary",
      path: "/api/v1/edits/vary",
      bodies: "json form",
      creates: true,
      fields: { image_url: inline, run_id: uuid, image: file, n: integer(1, 4), seed: integer(0, 4294967295), ...run },
      rules: [some("image_url", "run_id", "image")],
    }),
  } as unknown as Images;
}

// Printed by `npm run generate` from the code; never edited by hand.
import { call, callBoth, callRun, type Call, type PictureOperation, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import type { Operation } from "../operation.ts";
import type { CallOptions } from "../settings.ts";
import type { FileSource, ImageSource } from "../sources.ts";
import type { BackgroundRemoved, CharacterGeneration, Description, Extraction, Generation, ReferenceGeneration, Run, RunFields, Upload } from "./shapes.ts";

/** What `images.backgroundRemove` takes. */
export type ImagesBackgroundRemoveInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
};

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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.combine` takes as a form. */
export type ImagesCombineForm = ImagesCombineInput;

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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.combine.gemini25` takes as a form. */
export type ImagesCombineGemini25Form = ImagesCombineGemini25Input;

/** What `images.combine.nanobanana` takes. */
export type ImagesCombineNanobananaInput = RunFields & {
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.combine.nanobanana` takes as a form. */
export type ImagesCombineNanobananaForm = ImagesCombineNanobananaInput;

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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.edit.fluxKontext` takes as a form. */
export type ImagesEditFluxKontextForm = Omit<ImagesEditFluxKontextInput, "model"> & {
  /** The model that edits; needed in JSON. Default "flux-kontext-max" */
  model?: "flux-kontext-max";
};

/** What `images.edit.gemini25` takes. */
export type ImagesEditGemini25Input = RunFields & {
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.edit.nanobanana` takes as a form. */
export type ImagesEditNanobananaForm = ImagesEditNanobananaInput & {
  /** The image that is edited; it goes before the others */
  image?: FileSource | string;
};

/** What `images.edit.vendora` takes. */
export type ImagesEditVendoraInput = RunFields & {
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
  /** Mask of the same size: white is what changes */
  mask_url?: ImageSource;
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
export type ImagesExtractInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.genRemove` takes. */
export type ImagesGenRemoveInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** What to take out */
  prompt: string;
  /** Its shadow goes with it. Default true */
  remove_shadow?: boolean;
  /** All that the prompt fits, not only the best match. Default false */
  multiple?: boolean;
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.reference` takes as a form. */
export type ImagesReferenceForm = ImagesReferenceInput;

/** What `images.reframe` takes. */
export type ImagesReframeInput = RunFields & {
  /** What the new area shows */
  prompt?: string;
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.reframe` takes as a form. */
export type ImagesReframeForm = ImagesReframeInput & {
  /** The image as a file; it goes before the others */
  image_file?: FileSource | string;
};

/** What `images.removeBackground` takes. */
export type ImagesRemoveBackgroundInput = RunFields & {
  /** The image */
  imageUrl?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
};

/** What `images.removeBackground` takes as a form. */
export type ImagesRemoveBackgroundForm = ImagesRemoveBackgroundInput & {
  /** The image as a file; it goes before the others */
  image: FileSource | string;
  /** Name of the file, for your own records */
  filename?: string;
};

/** What `images.segmentImage` takes. */
export type ImagesSegmentImageInput = RunFields & {
  /** What to find */
  prompt: string;
  /** The image */
  imageUrl?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.uploadMask` takes. */
export type ImagesUploadMaskInput = RunFields & {
  /** The image: JPEG, PNG or WebP, at most 25 MiB */
  file: FileSource | string;
  /** What the image is */
  description?: string;
  /** The run that the image belongs to */
  parent_id?: string;
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.upscale` takes. */
export type ImagesUpscaleInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** How many times larger each side becomes. Default 2 */
  factor?: 2 | 4;
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
};

/** What `images.upscale` takes as a form. */
export type ImagesUpscaleForm = ImagesUpscaleInput & {
  /** The image as a file; it goes before the others */
  image?: FileSource | string;
};

/** What `images.vary` takes. */
export type ImagesVaryInput = RunFields & {
  /** The image */
  image_url?: ImageSource;
  /** The run whose image is used; it becomes the parent */
  run_id?: string;
  /** How many variations. 1 to 4. Default 2 */
  n?: number;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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
  character: RunOperation<ImagesCharacterInput | ImagesCharacterForm, CharacterGeneration> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesCharacterInput, CharacterGeneration>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesCharacterForm, CharacterGeneration>;
  };
  /**
   * Lay two to ten images out in one: side by side, stacked, in a grid or one upon the other.
   * @example await client.images.combine({ images: ["https://example.com/lamp.png","https://example.com/desk.png"], mode: "side-by-side", gap: 8 })
   */
  combine: RunOperation<ImagesCombineInput | ImagesCombineForm, Generation> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesCombineInput, Generation>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesCombineForm, Generation>;
  } & {
    /**
     * Make one image out of several, as the prompt says, with gemini-2.5.
     * - image_urls, run_ids, images have 2 to 10 entries together.
     * @example await client.images.combine.gemini25({ prompt: "put the lamp on the desk", image_urls: ["https://example.com/lamp.png","https://example.com/desk.png"] })
     */
    gemini25: RunOperation<ImagesCombineGemini25Input | ImagesCombineGemini25Form, Generation> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesCombineGemini25Input, Generation>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesCombineGemini25Form, Generation>;
    };
    /**
     * Make one image out of several, as the prompt says, with nanobanana.
     * - image_urls, run_ids, images have 2 to 10 entries together.
     * @example await client.images.combine.nanobanana({ prompt: "put the lamp on the desk", image_urls: ["https://example.com/lamp.png","https://example.com/desk.png"] })
     */
    nanobanana: RunOperation<ImagesCombineNanobananaInput | ImagesCombineNanobananaForm, Generation> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesCombineNanobananaInput, Generation>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesCombineNanobananaForm, Generation>;
    };
  };
  /**
   * Say what an image shows.
   * - Give at least one of image_url, run_id, image.
   * @example await client.images.describe({ image_url: "https://example.com/desk.png", detail: "short", sync: true })
   */
  describe: RunOperation<ImagesDescribeInput | ImagesDescribeForm, Description> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesDescribeInput, Description>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesDescribeForm, Description>;
  };
  edit: {
    /**
     * Edit the image of an earlier run in words.
     * - In JSON: Give model.
     * @example await client.images.edit.fluxKontext({ original_run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", prompt: "make it snow", model: "flux-kontext-max" })
     */
    fluxKontext: RunOperation<ImagesEditFluxKontextInput | ImagesEditFluxKontextForm, Run> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesEditFluxKontextInput, Run>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesEditFluxKontextForm, Run>;
    };
    /**
     * Edit an image in words with gemini-2.5, within a mask if you like.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.gemini25({ image_url: "https://example.com/desk.png", prompt: "add a plant on the left" })
     */
    gemini25: RunOperation<ImagesEditGemini25Input | ImagesEditGemini25Form, Generation> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesEditGemini25Input, Generation>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesEditGemini25Form, Generation>;
    };
    /**
     * Edit an image in words with nanobanana.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.nanobanana({ image_url: "https://example.com/desk.png", prompt: "make it night", seed: 7 })
     */
    nanobanana: RunOperation<ImagesEditNanobananaInput | ImagesEditNanobananaForm, Generation> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesEditNanobananaInput, Generation>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesEditNanobananaForm, Generation>;
    };
    /**
     * Edit an image in words with vendora, within a mask if you like.
     * - Give at least one of image_url, run_id, image.
     * - reference_image_url and reference_url are two names of one field: give one, or the same value.
     * @example await client.images.edit.vendora({ image_url: "https://example.com/desk.png", prompt: "make the lamp blue" })
     */
    vendora: RunOperation<ImagesEditVendoraInput | ImagesEditVendoraForm, Run> & {
      /** With a JSON body; files are uploaded first. */
      json: RunOperation<ImagesEditVendoraInput, Run>;
      /** With a form; files go with it. */
      formData: RunOperation<ImagesEditVendoraForm, Run>;
    };
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
  reference: RunOperation<ImagesReferenceInput | ImagesReferenceForm, ReferenceGeneration> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesReferenceInput, ReferenceGeneration>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesReferenceForm, ReferenceGeneration>;
  };
  /**
   * Give an image another shape; what is new continues it.
   * - Give at least one of image_url, run_id, image_file.
   * - Give x_start and x_end and y_start and y_end together or not at all.
   * @example await client.images.reframe({ image_url: "https://example.com/desk.png", aspect_ratio: "16:9", prompt: "more of the room" })
   */
  reframe: RunOperation<ImagesReframeInput | ImagesReframeForm, Run> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesReframeInput, Run>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesReframeForm, Run>;
  };
  /**
   * Take the background away; answers a transparent PNG.
   * - In JSON: Give at least one of imageUrl, run_id.
   * - In a form: Give image.
   * @example await client.images.removeBackground({ imageUrl: "https://example.com/portrait.png" })
   */
  removeBackground: PictureOperation<ImagesRemoveBackgroundInput | ImagesRemoveBackgroundForm> & {
    /** With a JSON body; files are uploaded first. */
    json: PictureOperation<ImagesRemoveBackgroundInput>;
    /** With a form; files go with it. */
    formData: PictureOperation<ImagesRemoveBackgroundForm>;
  };
  /**
   * Find what a prompt names in an image; answers its mask, white where it is.
   * - In JSON: Give at least one of imageUrl, run_id.
   * - In a form: Give image.
   * @example await client.images.segmentImage({ prompt: "the red circle", imageUrl: "https://example.com/shapes.png" })
   */
  segmentImage: PictureOperation<ImagesSegmentImageInput | ImagesSegmentImageForm> & {
    /** With a JSON body; files are uploaded first. */
    json: PictureOperation<ImagesSegmentImageInput>;
    /** With a form; files go with it. */
    formData: PictureOperation<ImagesSegmentImageForm>;
  };
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
  upscale: RunOperation<ImagesUpscaleInput | ImagesUpscaleForm, Run> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesUpscaleInput, Run>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesUpscaleForm, Run>;
  };
  /**
   * Make variations of an image.
   * - Give at least one of image_url, run_id, image.
   * @example await client.images.vary({ image_url: "https://example.com/desk.png", n: 2, seed: 7 })
   */
  vary: RunOperation<ImagesVaryInput | ImagesVaryForm, Run> & {
    /** With a JSON body; files are uploaded first. */
    json: RunOperation<ImagesVaryInput, Run>;
    /** With a form; files go with it. */
    formData: RunOperation<ImagesVaryForm, Run>;
  };
};

const IMAGES_BACKGROUND_REMOVE: Operation = {"name":"images.backgroundRemove","method":"POST","path":"/api/v1/edits/background-remove","bodies":["json"],"creates":true,"waits":true,"fields":{"type":"object","properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]}]}]};

const IMAGES_CHARACTER: Operation = {"name":"images.character","method":"POST","path":"/api/v1/runs/character","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"character_reference_image":{"is":"inline"},"character_reference_run_id":{"type":"string","format":"uuid"},"character_reference_file":{"is":"file","form":true},"rendering_speed":{"type":"string","enum":["Default","Turbo","Quality"]},"style_type":{"type":"string","enum":["Auto","Fiction","Realistic"]},"magic_prompt_option":{"type":"string","enum":["On","Off","Auto"]},"aspect_ratio":{"type":"string","enum":["1:1","16:9","9:16","4:3","3:4","3:2","2:3"]},"resolution":{"enum":["auto","720","1024","1280","2048",720,1024,1280,2048]},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"image":{"is":"inline"},"mask":{"is":"inline"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const IMAGES_COMBINE: Operation = {"name":"images.combine","method":"POST","path":"/api/v1/combine","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["images"],"properties":{"images":{"type":"array","minItems":2,"maxItems":10,"items":{"is":"inline"}},"mode":{"type":"string","enum":["side-by-side","stacked","grid","overlay"]},"gap":{"type":"integer","minimum":0,"maximum":512},"background":{"type":"string","pattern":"^(transparent|#[0-9a-fA-F]{6})$"},"opacity":{"type":"number","minimum":0,"maximum":1},"output_format":{"type":"string","enum":["png","jpeg","webp"]},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const IMAGES_COMBINE_GEMINI25: Operation = {"name":"images.combine.gemini25","method":"POST","path":"/api/v1/combine/gemini-2.5","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_urls":{"type":"array","minItems":2,"maxItems":10,"items":{"is":"inline"}},"run_ids":{"type":"array","minItems":2,"maxItems":10,"items":{"type":"string","format":"uuid"}},"images":{"type":"array","minItems":1,"maxItems":10,"items":{"is":"inline"}},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_urls"]},{"required":["run_ids"]},{"required":["images"]}]}]};

const IMAGES_COMBINE_NANOBANANA: Operation = {"name":"images.combine.nanobanana","method":"POST","path":"/api/v1/combine/nanobanana","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_urls":{"type":"array","minItems":2,"maxItems":10,"items":{"is":"inline"}},"run_ids":{"type":"array","minItems":2,"maxItems":10,"items":{"type":"string","format":"uuid"}},"images":{"type":"array","minItems":1,"maxItems":10,"items":{"is":"inline"}},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_urls"]},{"required":["run_ids"]},{"required":["images"]}]}]};

const IMAGES_DESCRIBE: Operation = {"name":"images.describe","method":"POST","path":"/api/v1/images/describe","bodies":["json","form"],"creates":true,"fields":{"type":"object","properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"detail":{"type":"string","enum":["short","normal","long"]},"language":{"type":"string","maxLength":64},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

const IMAGES_EDIT_FLUX_KONTEXT: Operation = {"name":"images.edit.fluxKontext","method":"POST","path":"/api/v1/edits/flux-kontext","bodies":["json","form"],"creates":true,"presets":{"model":"flux-kontext-max"},"fields":{"type":"object","required":["original_run_id","prompt"],"properties":{"original_run_id":{"type":"string","format":"uuid"},"prompt":{"type":"string","minLength":1,"maxLength":8000},"aspect_ratio":{"type":"string","enum":["match_input_image","1:1","16:9","9:16","4:3","3:4","3:2","2:3","4:5","5:4","21:9","9:21","2:1","1:2"]},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"model":{"type":"string","const":"flux-kontext-max"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"jsonRules":[{"required":["model"]}]};

const IMAGES_EDIT_GEMINI25: Operation = {"name":"images.edit.gemini25","method":"POST","path":"/api/v1/edits/gemini-2.5","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"reference_image_url":{"is":"inline"},"reference_url":{"is":"inline"},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"},"mask_url":{"is":"inline"},"mask":{"is":"file","form":true}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

const IMAGES_EDIT_NANOBANANA: Operation = {"name":"images.edit.nanobanana","method":"POST","path":"/api/v1/edits/nanobanana","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"reference_image_url":{"is":"inline"},"reference_url":{"is":"inline"},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

const IMAGES_EDIT_VENDORA: Operation = {"name":"images.edit.vendora","method":"POST","path":"/api/v1/edits/vendora","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"reference_image_url":{"is":"inline"},"reference_url":{"is":"inline"},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"},"mask_url":{"is":"inline"},"mask":{"is":"file","form":true},"n":{"type":"integer","minimum":1,"maximum":4}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

const IMAGES_EXTRACT: Operation = {"name":"images.extract","method":"POST","path":"/api/v1/edits/extract","bodies":["json"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"prompt":{"type":"string","minLength":1,"maxLength":8000},"mode":{"type":"string","enum":["extract","content","mask"]},"multiple":{"type":"boolean"},"preserve_alpha":{"type":"boolean"},"invert":{"type":"boolean"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]}]}]};

const IMAGES_GEN_REMOVE: Operation = {"name":"images.genRemove","method":"POST","path":"/api/v1/edits/generative-remove","bodies":["json"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"prompt":{"type":"string","minLength":1,"maxLength":8000},"remove_shadow":{"type":"boolean"},"multiple":{"type":"boolean"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]}]}]};

const IMAGES_GENERATE: Operation = {"name":"images.generate","method":"POST","path":"/api/v1/runs/generate","bodies":["json"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"model_type":{"type":"string","enum":["flux-dev","vendorb-imagen4","flux-kontext-max","vendora","wan-image-2.1","wan-image-2.2","flux-kontext-multi","nanobanana","qwen-image-edit","gemini-2.5","vendorc"]},"model_id":{"type":"string","format":"uuid"},"workflow_type":{"type":"string","enum":["default","wan","wan-image-2.2"]},"width":{"type":"integer","minimum":64,"maximum":2048},"height":{"type":"integer","minimum":64,"maximum":2048},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"strength_model":{"type":"number","minimum":0,"maximum":2},"model_weight":{"type":"number","minimum":0,"maximum":1},"guidance":{"type":"number","minimum":0,"maximum":100},"lora_low_name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},"lora_high_name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},"lora_low_strength":{"type":"number","minimum":0,"maximum":2},"lora_high_strength":{"type":"number","minimum":0,"maximum":2},"lora_1":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},"reference_image_url":{"is":"image"},"image_urls":{"type":"array","minItems":1,"maxItems":10,"items":{"is":"image"}},"run_ids":{"type":"array","minItems":1,"maxItems":10,"items":{"type":"string","format":"uuid"}},"mask_url":{"is":"image"},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"negative_prompt":{"type":"string","maxLength":8000},"scheduler":{"type":"string","maxLength":128},"steps":{"type":"integer","minimum":1,"maximum":100},"cfg_scale":{"type":"number","minimum":0,"maximum":30},"batch_size":{"type":"integer","minimum":1,"maximum":4},"batch_count":{"type":"integer","minimum":1,"maximum":4},"upscale_factor":{"type":"number","minimum":1,"maximum":4},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"if":{"properties":{"model_type":{"const":"vendorb-imagen4"}},"required":["model_type"]},"then":{"required":["aspect_ratio"]}},{"if":{"properties":{"model_type":{"const":"flux-kontext-max"}},"required":["model_type"]},"then":{"properties":{"aspect_ratio":{"enum":["1:1","16:9","9:16","4:3","3:4","3:2","2:3","4:5","5:4","21:9","9:21","2:1","1:2"]}}}},{"if":{"properties":{"model_type":{"const":"wan-image-2.1"}},"required":["model_type"]},"then":{"required":["model_id","width","height"]}},{"if":{"properties":{"model_type":{"const":"wan-image-2.1"}},"required":["model_type"]},"then":{"properties":{"batch_size":{"const":2}}}},{"if":{"properties":{"model_type":{"const":"wan-image-2.2"}},"required":["model_type"]},"then":{"required":["model_id","width","height","lora_low_name","lora_high_name"]}},{"if":{"properties":{"model_type":{"const":"flux-kontext-multi"}},"required":["model_type"]},"then":{"anyOf":[{"required":["image_urls"]},{"required":["run_ids"]}]}},{"if":{"properties":{"model_type":{"const":"qwen-image-edit"}},"required":["model_type"]},"then":{"required":["width","height"]}},{"if":{"properties":{"model_type":{"const":"gemini-2.5"}},"required":["model_type"]},"then":{"properties":{"image_urls":{"minItems":2,"maxItems":10},"run_ids":{"minItems":2,"maxItems":10}}}},{"dependentRequired":{"lora_low_name":["lora_high_name"],"lora_high_name":["lora_low_name"]}}]};

const IMAGES_REFERENCE: Operation = {"name":"images.reference","method":"POST","path":"/api/v1/runs/reference","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"images":{"type":"array","maxItems":3,"items":{"type":"object","required":["image_reference","tag"],"properties":{"image_reference":{"is":"inline"},"tag":{"type":"string","pattern":"^@?[A-Za-z][A-Za-z0-9_]{2,15}$"}}}},"aspect_ratio":{"type":"string","enum":["16:9","9:16","4:3","3:4","1:1","21:9"]},"resolution":{"type":"string","enum":["720p","1080p"]},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const IMAGES_REFRAME: Operation = {"name":"images.reframe","method":"POST","path":"/api/v1/edits/reframe","bodies":["json","form"],"creates":true,"fields":{"type":"object","required":["aspect_ratio"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image_file":{"is":"file","form":true},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"model":{"type":"string","enum":["photon-flash-1","photon-1"]},"grid_position_x":{"type":"integer","minimum":-32768,"maximum":32768},"grid_position_y":{"type":"integer","minimum":-32768,"maximum":32768},"x_start":{"type":"integer","minimum":-32768,"maximum":32768},"x_end":{"type":"integer","minimum":-32768,"maximum":32768},"y_start":{"type":"integer","minimum":-32768,"maximum":32768},"y_end":{"type":"integer","minimum":-32768,"maximum":32768},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image_file"]}]},{"dependentRequired":{"x_start":["x_end","y_start","y_end"],"x_end":["x_start","y_start","y_end"],"y_start":["x_start","x_end","y_end"],"y_end":["x_start","x_end","y_start"]}}]};

const IMAGES_REMOVE_BACKGROUND: Operation = {"name":"images.removeBackground","method":"POST","path":"/api/v1/edits/remove-bg","bodies":["json","form"],"creates":true,"binary":true,"waits":true,"fields":{"type":"object","properties":{"imageUrl":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"filename":{"type":"string","maxLength":255,"form":true},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"jsonRules":[{"anyOf":[{"required":["imageUrl"]},{"required":["run_id"]}]}],"formRules":[{"required":["image"]}]};

const IMAGES_SEGMENT_IMAGE: Operation = {"name":"images.segmentImage","method":"POST","path":"/api/v1/edits/segment","bodies":["json","form"],"creates":true,"binary":true,"waits":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"imageUrl":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"filename":{"type":"string","maxLength":255,"form":true},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"jsonRules":[{"anyOf":[{"required":["imageUrl"]},{"required":["run_id"]}]}],"formRules":[{"required":["image"]}]};

const IMAGES_UPLOAD: Operation = {"name":"images.upload","method":"POST","path":"/api/v1/upload","bodies":["form"],"creates":true,"fields":{"type":"object","required":["file"],"properties":{"file":{"is":"file","form":true},"description":{"type":"string","maxLength":2000},"parent_id":{"type":"string","format":"uuid"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const IMAGES_UPLOAD_MASK: Operation = {"name":"images.uploadMask","method":"POST","path":"/api/v1/upload","bodies":["form"],"creates":true,"sets":{"isMask":true},"fields":{"type":"object","required":["file"],"properties":{"file":{"is":"file","form":true},"description":{"type":"string","maxLength":2000},"parent_id":{"type":"string","format":"uuid"},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const IMAGES_UPSCALE: Operation = {"name":"images.upscale","method":"POST","path":"/api/v1/edits/upscale","bodies":["json","form"],"creates":true,"fields":{"type":"object","properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"factor":{"anyOf":[{"type":"number","const":2},{"type":"number","const":4}]},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

const IMAGES_VARY: Operation = {"name":"images.vary","method":"POST","path":"/api/v1/edits/vary","bodies":["json","form"],"creates":true,"fields":{"type":"object","properties":{"image_url":{"is":"inline"},"run_id":{"type":"string","format":"uuid"},"image":{"is":"file","form":true},"n":{"type":"integer","minimum":1,"maximum":4},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"anyOf":[{"required":["image_url"]},{"required":["run_id"]},{"required":["image"]}]}]};

/**
 * The operations of this group on a connection of their own.
 * @example const images = imagesOf(connect({ baseUrl, apiKey }))
 */
export function imagesOf(connection: Connection): Images {
  const genRemove = callRun(connection, IMAGES_GEN_REMOVE);
  return {
    backgroundRemove: callRun(connection, IMAGES_BACKGROUND_REMOVE),
    character: callBoth(connection, IMAGES_CHARACTER),
    combine: Object.assign(callBoth(connection, IMAGES_COMBINE), {
        gemini25: callBoth(connection, IMAGES_COMBINE_GEMINI25),
        nanobanana: callBoth(connection, IMAGES_COMBINE_NANOBANANA),
      }),
    describe: callBoth(connection, IMAGES_DESCRIBE),
    edit: {
        fluxKontext: callBoth(connection, IMAGES_EDIT_FLUX_KONTEXT),
        gemini25: callBoth(connection, IMAGES_EDIT_GEMINI25),
        nanobanana: callBoth(connection, IMAGES_EDIT_NANOBANANA),
        vendora: callBoth(connection, IMAGES_EDIT_VENDORA),
      },
    extract: callRun(connection, IMAGES_EXTRACT),
    genRemove,
    generativeRemove: genRemove,
    generate: callRun(connection, IMAGES_GENERATE),
    reference: callBoth(connection, IMAGES_REFERENCE),
    reframe: callBoth(connection, IMAGES_REFRAME),
    removeBackground: callBoth(connection, IMAGES_REMOVE_BACKGROUND),
    segmentImage: callBoth(connection, IMAGES_SEGMENT_IMAGE),
    upload: call(connection, IMAGES_UPLOAD),
    uploadMask: call(connection, IMAGES_UPLOAD_MASK),
    upscale: callBoth(connection, IMAGES_UPSCALE),
    vary: callBoth(connection, IMAGES_VARY),
  } as unknown as Images;
}

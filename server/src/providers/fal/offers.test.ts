// What reaches fal of a job: its own field names and values, only what was asked for, and masks as each endpoint means
// them.
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { bytesOf, findFalOffer, useFalHarness } from "../../../test/fake-vendors/fal/harness.ts";
import { repaintMasked } from "../../../test/fake-vendors/result-files.ts";
import { createImageAsset, createMaskAsset } from "../../../test/fake-vendors/sample-jobs.ts";
import type { Job } from "../../contract/operation.ts";
import { fal } from "../fal.ts";
import type { Asset } from "../provider.ts";

const { vendor, submit, submitTo, finish } = useFalHarness();

/** What reached fal, without the images. */
const asked = () => {
  const { image_url, image_urls, mask_url, mask_image_url, reference_image_urls, ...rest } =
    vendor().ledger[0]!.request;
  return rest;
};

describe("a request to fal", () => {
  const prompt = "a tin robot";

  it.each<[upstreamModel: string, job: Partial<Job<Asset>>, request: object]>([
    [
      "fal-ai/flux/dev",
      { prompt, width: 512, height: 256, seed: 7, count: 2, options: { guidance: 4, steps: 20 } },
      {
        prompt,
        image_size: { width: 512, height: 256 },
        seed: 7,
        num_images: 2,
        guidance_scale: 4,
        num_inference_steps: 20,
        output_format: "png",
      },
    ],
    [
      "fal-ai/flux/dev",
      { prompt, negative_prompt: "rust", options: { scheduler: "x" } },
      { prompt, output_format: "png" },
    ],
    [
      "fal-ai/flux-lora",
      { prompt, options: { model_id: "our-model", strength_model: 0.8 } },
      {
        prompt,
        loras: [{ path: "https://loras.example.com/ours/our-model.safetensors", scale: 0.8 }],
        output_format: "png",
      },
    ],
    [
      "fal-ai/flux-lora",
      { prompt, options: { model_id: "our-model", deployment_id: "our-lora" } },
      { prompt, loras: [{ path: "https://loras.example.com/ours/our-lora.safetensors" }], output_format: "png" },
    ],
    [
      "fal-ai/flux-pro/kontext/max",
      { prompt, aspect_ratio: "3:2" },
      { prompt, aspect_ratio: "3:2", output_format: "png" },
    ],
    [
      "fal-ai/gpt-image-1.5",
      { prompt, width: 1536, height: 1024 },
      { prompt, image_size: "1536x1024", output_format: "png" },
    ],
    [
      "openai/gpt-image-2.5/flare/text-to-image",
      { prompt, width: 1920, height: 1080, count: 2, seed: 7 },
      { prompt, image_size: { width: 1920, height: 1088 }, num_images: 2, quality: "high", output_format: "png" },
    ],
    [
      "google/nano-banana-2.1",
      { prompt, aspect_ratio: "21:9", seed: 0 },
      { prompt, aspect_ratio: "21:9", seed: 0, output_format: "png" },
    ],
    [
      "google/nano-banana-2.1",
      { prompt, width: 2048, height: 2048 },
      { prompt, aspect_ratio: "1:1", resolution: "2K", output_format: "png" },
    ],
    [
      "fal-ai/wan/v2.2-a14b/text-to-image/lora",
      {
        prompt,
        negative_prompt: "fog",
        width: 512,
        height: 512,
        options: { lora_low_name: "low", lora_high_name: "high.safetensors", lora_high_strength: 0.9, cfg_scale: 3 },
      },
      {
        prompt,
        negative_prompt: "fog",
        image_size: { width: 512, height: 512 },
        guidance_scale: 3,
        image_format: "png",
        loras: [
          { path: "https://loras.example.com/ours/high.safetensors", scale: 0.9, transformer: "high" },
          { path: "https://loras.example.com/ours/low.safetensors", transformer: "low" },
        ],
      },
    ],
    [
      "fal-ai/ideogram/character",
      {
        prompt,
        aspect_ratio: "16:9",
        options: { rendering_speed: "Default", style_type: "Fiction", magic_prompt_option: "Off" },
      },
      { prompt, image_size: "landscape_16_9", rendering_speed: "BALANCED", style: "FICTION", expand_prompt: false },
    ],
    [
      "fal-ai/ideogram/character",
      { prompt, aspect_ratio: "3:2", options: { resolution: "auto" } },
      { prompt, image_size: { width: 1248, height: 832 } },
    ],
    [
      "fal-ai/ideogram/character",
      { prompt, aspect_ratio: "1:1", options: { resolution: "2048" } },
      { prompt, image_size: { width: 2048, height: 2048 } },
    ],
    [
      "fal-ai/ideogram/v3",
      { prompt, aspect_ratio: "1:1", options: { style_type: "Fiction" } },
      { prompt, image_size: "square_hd", style: "GENERAL" },
    ],
    [
      "fal-ai/luma-photon/reframe",
      { aspect_ratio: "9:16", options: { grid_position_x: 3, x_start: 1, x_end: 60 } },
      { aspect_ratio: "9:16", grid_position_x: 3, x_start: 1, x_end: 60 },
    ],
    [
      "fal-ai/object-removal",
      { prompt: "the lamp", options: { remove_shadow: true, multiple: true } },
      { prompt: "the lamp, all of them, and the shadow", mask_expansion: 40 },
    ],
    [
      "fal-ai/sam-3/image",
      { prompt: "cups", count: undefined, options: { multiple: true } },
      {
        prompt: "cups",
        apply_mask: false,
        include_scores: true,
        include_boxes: true,
        output_format: "png",
        return_multiple_masks: true,
        max_masks: 10,
      },
    ],
    ["fal-ai/birefnet/v2", {}, { model: "General Use (Heavy)", output_format: "png" }],
    ["fal-ai/esrgan", { options: { factor: 4 } }, { scale: 4, output_format: "png" }],
    ["fal-ai/moondream3-preview/caption", { options: { detail: "long" } }, { length: "long" }],
    [
      "fal-ai/wan/v2.2-5b/image-to-video",
      { prompt: undefined, aspect_ratio: "1:1", options: { duration: 3 } },
      { prompt: "", aspect_ratio: "1:1", frames_per_second: 24, num_frames: 73 },
    ],
    [
      "fal-ai/wan/v2.2-5b/image-to-video",
      { prompt, options: { duration: 10, fps: 30, cfg_scale: 5, motion_bucket_id: 9 } },
      { prompt, aspect_ratio: "16:9", guidance_scale: 5, frames_per_second: 16, num_frames: 161 },
    ],
  ])("%s %j", async (upstreamModel, job, request) => {
    await submit(upstreamModel, job);
    expect(asked()).toEqual(request);
  });

  it("names tagged images by their position", async () => {
    const offer = findFalOffer("google/nano-banana-2.1/edit", "image.reference");
    const images = [createImageAsset("a"), createImageAsset("b")];
    const job = { prompt: "@hero meets @hero_2", images, options: { tags: ["hero", "hero_2"], resolution: "1080p" } };
    await submitTo(offer, job);
    expect(asked()).toMatchObject({ prompt: "hero (image 1) meets hero_2 (image 2)", resolution: "2K" });
  });

  it("sends the mask as an image to a model without a mask field", async () => {
    const offer = fal.offers.find(({ task, model }) => task === "image.edit" && model === "gemini-2.5")!;
    await submitTo(offer, { mask: createMaskAsset() });
    expect(vendor().ledger[0]!.request.image_urls).toHaveLength(2);
    expect(asked().prompt).toContain("The last image is a mask");
  });

  it("uses the configured language model", async () => {
    await submit("openrouter/router", { options: { model_type: "flux-dev", style: "ink" } });
    expect(asked()).toMatchObject({ model: "meta-llama/llama-3.3-70b-instruct", prompt: "a red bicycle" });
    expect(asked().system_prompt).toContain("this style: ink");
  });

  it("scales the result to the requested size if the model derives the size from the image", async () => {
    const ticket = await submit("fal-ai/flux/dev/image-to-image", { width: 96, height: 48 });
    expect(await sharp(await bytesOf((await finish(ticket)).outputs[0])).metadata()).toMatchObject({
      width: 96,
      height: 48,
    });
  });
});

describe("a mask", () => {
  it.each([
    "fal-ai/flux-pro/v1/fill",
    "fal-ai/flux-pro/v1/erase",
    "fal-ai/bria/eraser",
    "fal-ai/ideogram/character/edit",
    "fal-ai/gpt-image-1.5/edit",
    "openai/gpt-image-2.5/flare/edit",
  ])("changes the white side, with %s", async (upstreamModel) => {
    const offer = fal.offers.find((each) => each.upstreamModel === upstreamModel && each.limits?.mask !== false)!;
    const mask = createMaskAsset();
    const isCharacter = offer.task === "image.character";
    const images = [createImageAsset("one"), createImageAsset("two")].slice(0, isCharacter ? 2 : 1);
    const ticket = await submitTo(offer, { images, mask, ...(isCharacter && { mask_over: 1 }) });
    const { outputs } = await finish(ticket);
    const words = `${vendor().ledger[0]!.request.prompt ?? upstreamModel} 0 0`;
    const over = images.at(-1)!;
    const wanted = await repaintMasked(await over.bytes(), await mask.bytes(), "white", words);
    expect((await bytesOf(outputs[0])).equals(wanted)).toBe(true);
  });

  it("is white and transparent, because fal does not document which of the two it reads", async () => {
    await submitTo(findFalOffer("fal-ai/gpt-image-1.5/edit", "image.edit"), { mask: createMaskAsset() });
    const [, sent = ""] = String(vendor().ledger[0]!.request.mask_image_url).split(",");
    const { data, info } = await sharp(Buffer.from(sent, "base64")).raw().toBuffer({ resolveWithObject: true });
    const pixel = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
    expect(pixel(32, 32)).toEqual([255, 255, 255, 0]);
    expect(pixel(0, 0)).toEqual([0, 0, 0, 255]);
  });
});

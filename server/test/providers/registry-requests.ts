// One small request for each thing that the interface names, operation by operation and model by model: what a walk over the
// providers sends.
import sharp from "sharp";
import type { Task } from "../../src/kit/operation.ts";
import { MODEL_IDS } from "../support/custom-models.ts";

type Fields = Record<string, unknown>;

/** `makes`: what must lie in storage afterwards. `by`: how many of our vendors serve it at least. */
export type RegistryRequest = {
  name: string;
  task: Task;
  model: string;
  path: string;
  body: Fields;
  expectedOutput: "image" | "video" | "words";
  minProviders: number;
};

const SIDE = 256;

export const scene = (): Promise<Buffer> =>
  sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: "#4060a0" } })
    .composite([
      {
        input: Buffer.from(
          `<svg width="${SIDE}" height="${SIDE}"><circle cx="90" cy="90" r="60" fill="#d03020"/></svg>`,
        ),
      },
    ])
    .png()
    .toBuffer();

/** White where the circle is. */
export const sceneMask = (): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg width="${SIDE}" height="${SIDE}"><rect width="100%" height="100%"/><circle cx="90" cy="90" r="64" fill="#fff"/></svg>`,
    ),
  )
    .flatten({ background: "#000" })
    .threshold(128)
    .png()
    .toBuffer();

const generate = (model: string, by: number, fields: Fields = {}, task: Task = "image.generate"): RegistryRequest => ({
  name: `generate ${model}${fields.mask_url ? " + mask" : Object.keys(fields).some((name) => /image|run_ids/.test(name)) ? " + pictures" : ""}`,
  task,
  model,
  path: "/runs/generate",
  body: { prompt: "a red bicycle by the sea", model_type: model, ...fields },
  expectedOutput: "image",
  minProviders: by,
});
const ask = (
  name: string,
  what: [Task, string],
  path: string,
  body: Fields,
  more: Partial<RegistryRequest> = {},
): RegistryRequest => ({
  ...{ name, path, body },
  ...{ task: what[0], model: what[1], expectedOutput: "image", minProviders: 1 },
  ...more,
});

/** `run` holds the scene, `url` is its address, `mask` its mask as a data URL; `maskUrl` the address of the mask. */
export function listRegistryRequests({
  run,
  url,
  mask,
  maskUrl,
}: {
  run: string;
  url: string;
  mask: string;
  maskUrl: string;
}): RegistryRequest[] {
  const size = { width: 512, height: 512 };
  const lora = { lora_low_name: "style-low", lora_high_name: "style-high", model_id: MODEL_IDS["wan-image-2.2"] };
  return [
    generate("flux-dev", 2, size),
    generate("flux-dev", 2, { reference_image_url: url }),
    generate("vendorb-imagen4", 2, { aspect_ratio: "16:9" }),
    generate("flux-kontext-max", 2, { aspect_ratio: "4:3" }),
    generate("flux-kontext-multi", 2, { run_ids: [run, run] }),
    generate("vendora", 2, { width: 1024, height: 1024 }),
    generate("nanobanana", 2, { reference_image_url: url }),
    generate("gemini-2.5", 2, { run_ids: [run, run] }),
    generate("gemini-2.5", 1, { image_urls: [url, url], mask_url: maskUrl }, "image.edit"),
    generate("wan-image-2.1", 1, { ...size, model_id: MODEL_IDS["wan-image-2.1"] }),
    generate("wan-image-2.2", 2, { ...size, ...lora }),
    generate("qwen-image-edit", 2, { ...size, reference_image_url: url }),
    ask(
      "edit.vendora",
      ["image.edit", "vendora"],
      "/edits/vendora",
      { prompt: "make it night", run_id: run, n: 2 },
      { minProviders: 2 },
    ),
    ask(
      "edit.vendora + mask",
      ["image.edit", "vendora"],
      "/edits/vendora",
      { prompt: "make it night", run_id: run, mask_url: mask },
      { minProviders: 2 },
    ),
    ask(
      "edit.fluxKontext",
      ["image.edit", "flux-kontext-max"],
      "/edits/flux-kontext",
      { prompt: "make it night", original_run_id: run, model: "flux-kontext-max" },
      { minProviders: 2 },
    ),
    ask(
      "edit.nanobanana",
      ["image.edit", "nanobanana"],
      "/edits/nanobanana",
      { prompt: "make it night", run_id: run },
      { minProviders: 2 },
    ),
    ask(
      "edit.gemini25",
      ["image.edit", "gemini-2.5"],
      "/edits/gemini-2.5",
      { prompt: "make it night", run_id: run },
      { minProviders: 2 },
    ),
    ask(
      "combine.nanobanana",
      ["image.edit", "nanobanana"],
      "/combine/nanobanana",
      { prompt: "both", run_ids: [run, run] },
      { minProviders: 2 },
    ),
    ask(
      "combine.gemini25",
      ["image.edit", "gemini-2.5"],
      "/combine/gemini-2.5",
      { prompt: "both", run_ids: [run, run] },
      { minProviders: 2 },
    ),
    ask(
      "character",
      ["image.character", "character-default"],
      "/runs/character",
      { prompt: "reading", character_reference_run_id: run },
      { minProviders: 2 },
    ),
    ask(
      "reference",
      ["image.reference", "reference-default"],
      "/runs/reference",
      { prompt: "@hero on a beach", images: [{ image_reference: run, tag: "hero" }] },
      { minProviders: 2 },
    ),
    ask("segmentImage", ["image.segment", "segment-default"], "/edits/segment", {
      prompt: "the red circle",
      run_id: run,
    }),
    ask("extract", ["image.segment", "segment-default"], "/edits/extract", { prompt: "the red circle", run_id: run }),
    ask(
      "removeBackground",
      ["image.remove-background", "remove-background-default"],
      "/edits/remove-bg",
      { run_id: run },
      { minProviders: 2 },
    ),
    ask(
      "backgroundRemove",
      ["image.remove-background", "remove-background-default"],
      "/edits/background-remove",
      { run_id: run, sync: false },
      { minProviders: 2 },
    ),
    ask("genRemove", ["image.remove", "remove-default"], "/edits/generative-remove", {
      prompt: "the red circle",
      run_id: run,
    }),
    ask(
      "maskImage",
      ["image.remove", "remove-default"],
      "/edits/mask",
      { original_image_url: run, mask_image_url: mask },
      { minProviders: 2 },
    ),
    ask(
      "maskImage + prompt",
      ["image.edit", "edit-default"],
      "/edits/mask",
      { original_image_url: run, mask_image_url: mask, prompt: "a hat" },
      { minProviders: 2 },
    ),
    ask(
      "reframe photon-flash-1",
      ["image.reframe", "photon-flash-1"],
      "/edits/reframe",
      { aspect_ratio: "16:9", run_id: run },
      { minProviders: 2 },
    ),
    ask(
      "reframe photon-1",
      ["image.reframe", "photon-1"],
      "/edits/reframe",
      { aspect_ratio: "16:9", run_id: run, model: "photon-1" },
      { minProviders: 2 },
    ),
    ask(
      "describe",
      ["image.describe", "describe-default"],
      "/images/describe",
      { run_id: run },
      { expectedOutput: "words", minProviders: 2 },
    ),
    ask(
      "enhance",
      ["prompt.enhance", "enhance-default"],
      "/prompts/enhance",
      { prompt: "a cat" },
      { expectedOutput: "words", minProviders: 2 },
    ),
    ask(
      "generateVideo",
      ["video.generate", "video-default"],
      "/runs/video",
      { source_run_id: run, prompt: "it moves" },
      { expectedOutput: "video", minProviders: 2 },
    ),
  ];
}

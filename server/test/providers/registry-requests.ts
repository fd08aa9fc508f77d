// The requests of the registry test: at least one for every operation that a provider serves and for every offered
// model. An operation without a request here is called with its own example; offered models are checked by the test.
import sharp from "sharp";
import type { Task } from "../../src/contract/operation.ts";
import { operations } from "../../src/operations/all.ts";
import { MODEL_IDS } from "../support/custom-models.ts";
import { buildJobs, exampleWithRun } from "../support/operation-plans.ts";

type Fields = Record<string, unknown>;

/** `expectedOutput`: what the run must store. `minProviders`: number of fake vendors that must serve the request. */
export type RegistryRequest = {
  name: string;
  task: Task;
  model: string;
  path: string;
  body: Fields;
  expectedOutput: "image" | "video" | "text";
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

const generate = (
  model: string,
  minProviders: number,
  fields: Fields = {},
  task: Task = "image.generate",
): RegistryRequest => ({
  name: `generate ${model}${fields.mask_url ? " + mask" : Object.keys(fields).some((name) => /image|run_ids/.test(name)) ? " + images" : ""}`,
  task,
  model,
  path: "/runs/generate",
  body: { prompt: "a red bicycle by the sea", model_type: model, ...fields },
  expectedOutput: "image",
  minProviders,
});
const buildRequest = (
  name: string,
  [task, model]: [Task, string],
  path: string,
  body: Fields,
  more: Partial<RegistryRequest> = {},
): RegistryRequest => ({
  ...{ name, path, body },
  ...{ task, model, expectedOutput: "image", minProviders: 1 },
  ...more,
});

/** `run` holds the scene at `url`; `mask` is its mask as a data URL, `maskUrl` the URL of the mask. */
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
    buildRequest(
      "edit.vendora",
      ["image.edit", "vendora"],
      "/edits/vendora",
      { prompt: "make it night", run_id: run, n: 2 },
      { minProviders: 2 },
    ),
    buildRequest(
      "edit.vendora + mask",
      ["image.edit", "vendora"],
      "/edits/vendora",
      { prompt: "make it night", run_id: run, mask_url: mask },
      { minProviders: 2 },
    ),
    buildRequest(
      "edit.fluxKontext",
      ["image.edit", "flux-kontext-max"],
      "/edits/flux-kontext",
      { prompt: "make it night", original_run_id: run, model: "flux-kontext-max" },
      { minProviders: 2 },
    ),
    buildRequest(
      "edit.nanobanana",
      ["image.edit", "nanobanana"],
      "/edits/nanobanana",
      { prompt: "make it night", run_id: run },
      { minProviders: 2 },
    ),
    buildRequest(
      "edit.gemini25",
      ["image.edit", "gemini-2.5"],
      "/edits/gemini-2.5",
      { prompt: "make it night", run_id: run },
      { minProviders: 2 },
    ),
    buildRequest(
      "combine.nanobanana",
      ["image.edit", "nanobanana"],
      "/combine/nanobanana",
      { prompt: "both", run_ids: [run, run] },
      { minProviders: 2 },
    ),
    buildRequest(
      "combine.gemini25",
      ["image.edit", "gemini-2.5"],
      "/combine/gemini-2.5",
      { prompt: "both", run_ids: [run, run] },
      { minProviders: 2 },
    ),
    buildRequest(
      "character",
      ["image.character", "character-default"],
      "/runs/character",
      { prompt: "reading", character_reference_run_id: run },
      { minProviders: 2 },
    ),
    buildRequest(
      "reference",
      ["image.reference", "reference-default"],
      "/runs/reference",
      { prompt: "@hero on a beach", images: [{ image_reference: run, tag: "hero" }] },
      { minProviders: 2 },
    ),
    buildRequest("segmentImage", ["image.segment", "segment-default"], "/edits/segment", {
      prompt: "the red circle",
      run_id: run,
    }),
    buildRequest("extract", ["image.segment", "segment-default"], "/edits/extract", {
      prompt: "the red circle",
      run_id: run,
    }),
    buildRequest(
      "removeBackground",
      ["image.remove-background", "remove-background-default"],
      "/edits/remove-bg",
      { run_id: run },
      { minProviders: 2 },
    ),
    buildRequest(
      "backgroundRemove",
      ["image.remove-background", "remove-background-default"],
      "/edits/background-remove",
      { run_id: run, sync: false },
      { minProviders: 2 },
    ),
    buildRequest("genRemove", ["image.remove", "remove-default"], "/edits/generative-remove", {
      prompt: "the red circle",
      run_id: run,
    }),
    buildRequest(
      "maskImage",
      ["image.remove", "remove-default"],
      "/edits/mask",
      { original_image_url: run, mask_image_url: mask },
      { minProviders: 2 },
    ),
    buildRequest(
      "maskImage + prompt",
      ["image.edit", "edit-default"],
      "/edits/mask",
      { original_image_url: run, mask_image_url: mask, prompt: "a hat" },
      { minProviders: 2 },
    ),
    buildRequest(
      "reframe photon-flash-1",
      ["image.reframe", "photon-flash-1"],
      "/edits/reframe",
      { aspect_ratio: "16:9", run_id: run },
      { minProviders: 2 },
    ),
    buildRequest(
      "reframe photon-1",
      ["image.reframe", "photon-1"],
      "/edits/reframe",
      { aspect_ratio: "16:9", run_id: run, model: "photon-1" },
      { minProviders: 2 },
    ),
    buildRequest(
      "upscale",
      ["image.upscale", "upscale-default"],
      "/edits/upscale",
      { run_id: run, factor: 2 },
      { minProviders: 2 },
    ),
    buildRequest(
      "edit",
      ["image.edit", "edit-default"],
      "/edits",
      { prompt: "make it night", image: run, n: 1 },
      { minProviders: 2 },
    ),
    buildRequest("vary", ["image.edit", "edit-default"], "/edits/vary", { run_id: run, n: 1 }, { minProviders: 2 }),
    buildRequest(
      "describe",
      ["image.describe", "describe-default"],
      "/images/describe",
      { run_id: run },
      { expectedOutput: "text", minProviders: 2 },
    ),
    buildRequest(
      "enhance",
      ["prompt.enhance", "enhance-default"],
      "/prompts/enhance",
      { prompt: "a cat" },
      { expectedOutput: "text", minProviders: 2 },
    ),
    buildRequest(
      "generateVideo",
      ["video.generate", "video-default"],
      "/runs/video",
      { source_run_id: run, prompt: "it moves" },
      { expectedOutput: "video", minProviders: 2 },
    ),
  ];
}

/** The examples of all operations that `listed` has no request for, so that a new operation is called too. */
export const listExampleRequests = (listed: RegistryRequest[], run: string): RegistryRequest[] =>
  operations
    .filter(({ plan, http }) => plan !== undefined && !listed.some(({ path }) => path === http.path))
    .map((operation) => {
      const body = exampleWithRun(operation.example, run);
      const { task, model } = buildJobs(operation, body)[0]!;
      const expectedOutput = task === "video.generate" ? "video" : "image";
      return buildRequest(operation.name, [task, model], operation.http.path, body, {
        minProviders: 0,
        expectedOutput,
      });
    });

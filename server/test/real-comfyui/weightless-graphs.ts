// Graphs of nodes that need no model files. They have the names of built-in graphs, so that requests through the API
// reach them too, as the graphs of an operator do.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const slots = {
  seed: { type: "integer", default: 0 },
  width: { type: "integer", default: 64 },
  height: { type: "integer", default: 64 },
  count: { type: "integer", default: 1 },
  image: { type: "string" },
  upscale_factor: { type: "number", default: 1 },
  save_as: { type: "string" },
};

/**
 * A plain image in the colour of the seed, so that the results of an earlier job are not reused, or the uploaded
 * one.
 */
const first = {
  plain: {
    class_type: "EmptyImage",
    inputs: { width: "$width", height: "$height", batch_size: "$count", color: "$seed" },
  },
  image: { only_with: "image", else: ["plain", 0], class_type: "LoadImage", inputs: { image: "$image" } },
};
const save = (from: string) => ({
  save: { class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: "$save_as" } },
});

/** Half of the image and half of its inversion: every pixel is grey, whatever the image was. */
const blended = {
  ...first,
  inverted: { class_type: "ImageInvert", inputs: { image: ["image", 0] } },
  half: { class_type: "SolidMask", inputs: { value: 0.5, width: "$width", height: "$height" } },
  rest: { class_type: "InvertMask", inputs: { mask: ["half", 0] } },
  blended: {
    class_type: "ImageCompositeMasked",
    inputs: {
      ...{ destination: ["inverted", 0], source: ["image", 0], mask: ["rest", 0] },
      ...{ x: 0, y: 0, resize_source: true },
    },
  },
  enlarged: {
    class_type: "ImageScaleBy",
    inputs: { image: ["blended", 0], upscale_method: "lanczos", scale_by: "$upscale_factor" },
  },
  ...save("enlarged"),
};

const BLURS = 16;

/** A job of many slow nodes. ComfyUI stops a job only between two nodes. */
const slow = Object.fromEntries([
  ...Object.entries(first),
  [
    "blur0",
    {
      class_type: "ImageScale",
      inputs: { image: ["image", 0], upscale_method: "bicubic", width: 512, height: 512, crop: "disabled" },
    },
  ],
  ...Array.from({ length: BLURS }, (_, index) => [
    `blur${index + 1}`,
    { class_type: "ImageBlur", inputs: { image: [`blur${index}`, 0], blur_radius: 16, sigma: 8 } },
  ]),
  ...Object.entries(save(`blur${BLURS}`)),
]);

/** Reports its progress as a sampler does. */
const withProgress = {
  ...first,
  frames: { class_type: "RepeatImageBatch", inputs: { image: ["image", 0], amount: 16 } },
  sample: { class_type: "SaveImageWebsocket", inputs: { images: ["frames", 0] } },
  ...save("image"),
};

const withMissingNode = { ...first, missing: { class_type: "NodeThatDoesNotExist", inputs: {} }, ...save("image") };

const GRAPHS = {
  "flux-dev": blended,
  "flux-dev-image": blended,
  "qwen-image-edit": slow,
  "with-progress": withProgress,
  "with-missing-node": withMissingNode,
};
export type WeightlessGraph = keyof typeof GRAPHS;

/** Writes the graphs into a new folder, for `COMFYUI_GRAPHS`. */
export function writeWeightlessGraphs(): string {
  const folder = mkdtempSync(join(tmpdir(), "gesso-comfyui-graphs-"));
  for (const [name, nodes] of Object.entries(GRAPHS))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ description: "no model files", slots, nodes }));
  return folder;
}

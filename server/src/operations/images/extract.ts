import { z } from "zod";
import { executingModel, promptField, runFields } from "../../contract/fields.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun, type Job, type RunResult } from "../../contract/operation.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Extraction, type JsonObject } from "../../contract/schemas/run.ts";

export const extractObjects = defineRun({
  name: "images.extract",
  summary: "Extract the objects that a prompt names, or their masks",
  http: { method: "POST", path: "/edits/extract", bodies: ["json"] },
  run_type: "extract",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    prompt: promptField("Text that names the object, 1 to 8,000 characters"),
    mode: z
      .enum(["extract", "content", "mask"])
      .default("extract")
      .describe("extract or content: the object on a transparent background. mask: its mask. Default: extract"),
    multiple: z
      .boolean()
      .default(false)
      .describe("Extract all matching objects as separate images. Default: false, the best match only"),
    preserve_alpha: z
      .boolean()
      .default(true)
      .describe("Keep transparent areas of the source transparent. Default: true"),
    invert: z.boolean().default(false).describe("Extract everything except the object. Default: false"),
    model: executingModel(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: Extraction,
  example: { image_url: "https://example.com/shapes.png", prompt: "the red circle" },

  parent: (input) => input.run_id,
  plan: (input) => {
    const source = firstSource(input.image_url, selectedOutput(input.run_id, input))!;
    const cut = (mode: "mask" | "extract"): Job => ({
      task: "image.cut",
      model: "local",
      images: [source],
      masks: [{ job: 0, every: true }],
      options: { mode, invert: input.invert, preserve_alpha: input.preserve_alpha },
    });
    return [
      {
        task: "image.segment",
        model: input.model ?? DEFAULT_MODELS["image.segment"],
        prompt: input.prompt,
        images: [source],
        count: input.multiple ? undefined : 1,
        options: { multiple: input.multiple },
      },
      // Masks of what is extracted: black and white, in the size of the source, and inverted if the request is.
      cut("mask"),
      // Cut by the masks that were found, because they have soft edges.
      ...(input.mode === "mask" ? [] : [cut("extract")]),
    ];
  },
  resultFields: ["objects"],
  renderResult: (input, result) => (result.jobs.length > 0 ? { objects: renderObjects(input, result) } : null),
  renderResponse: (run, result) => ({ ...run, objects: renderObjects(run.inputs, result) }),
});

function renderObjects(input: JsonObject, { jobs }: RunResult) {
  const [found = [], masks = [], cuts = masks] = jobs;
  // Runs of earlier versions have no job for the masks of mode extract; the masks that were found are the nearest.
  const masksOfObjects = jobs.length === 2 && input.mode !== "mask" ? found : masks;
  return cuts.map((cut, index) => ({
    name: found[index]?.name ?? input.prompt,
    score: found[index]?.score ?? null,
    box: cut.box ?? found[index]?.box ?? null,
    asset_id: cut.asset_id,
    image_url: cut.url,
    mask_url: masksOfObjects[index]?.url ?? null,
  }));
}

import { z } from "zod";
import { promptField, runFields } from "../../kit/fields.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation, type RunResult } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { selectedOutput, sourceRun } from "../../kit/run-outputs.ts";
import { Extraction, type JsonObject } from "../../kit/schemas/run.ts";

export const extractObjects = defineOperation({
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
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: Extraction,
  example: { image_url: "https://example.com/shapes.png", prompt: "the red circle" },

  parent: (input) => input.run_id,
  plan: (input) => {
    const source = firstSource(input.image_url, selectedOutput(input.run_id, input))!;
    return [
      {
        task: "image.segment",
        model: "segment-default",
        prompt: input.prompt,
        images: [source],
        count: input.multiple ? undefined : 1,
        options: { multiple: input.multiple },
      },
      // With mode mask, the local provider also normalizes the masks: black and white, in the size of the source.
      {
        task: "image.cut",
        model: "local",
        images: [source],
        masks: [{ job: 0, every: true }],
        options: {
          mode: input.mode === "mask" ? "mask" : "extract",
          invert: input.invert,
          preserve_alpha: input.preserve_alpha,
        },
      },
    ];
  },
  resultFields: ["objects"],
  renderResult: (input, result) => (result.jobs.length > 0 ? { objects: renderObjects(input, result) } : null),
  renderResponse: (run, result) => ({ ...run, objects: renderObjects(run.inputs, result) }),
});

const renderObjects = (input: JsonObject, { jobs: [found = [], cuts = []] }: RunResult) =>
  cuts.map((cut, index) => ({
    name: found[index]?.name ?? input.prompt,
    score: found[index]?.score ?? null,
    box: found[index]?.box ?? cut.box ?? null,
    asset_id: cut.asset_id,
    image_url: cut.url,
    mask_url: input.mode === "mask" ? cut.url : (found[index]?.url ?? null),
  }));

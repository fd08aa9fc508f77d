import { z } from "zod";
import { promptField, runFields, runId } from "../../kit/fields.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Extraction } from "../../kit/schemas/run.ts";

export const extractObjects = defineOperation({
  name: "images.extract",
  summary: "Cut out what a prompt names, or answer its masks",
  http: { method: "POST", path: "/edits/extract", bodies: ["json"] },
  run_type: "extract",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    prompt: promptField("What to cut out"),
    mode: z
      .enum(["extract", "content", "mask"])
      .default("extract")
      .describe("The object cut out (extract, or content, which is the same), or its mask"),
    multiple: z.boolean().default(false).describe("All that the prompt fits, each by itself, not only the best match"),
    preserve_alpha: z.boolean().default(true).describe("Transparent parts of the source stay transparent"),
    invert: z.boolean().default(false).describe("Everything except what the prompt names"),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: Extraction,
  example: { image_url: "https://example.com/shapes.png", prompt: "the red circle" },

  parent: (asked) => asked.run_id,
  plan: (asked) => {
    const source = firstSource(asked.image_url, asked.run_id)!;
    return [
      {
        task: "image.segment",
        model: "segment-default",
        prompt: asked.prompt,
        images: [source],
        count: asked.multiple ? undefined : 1,
        options: { multiple: asked.multiple },
      },
      // Masks too pass through our own hands: black and white, and of the source's size, whoever found them.
      {
        task: "image.cut",
        model: "local",
        images: [source],
        masks: [{ job: 0, every: true }],
        options: {
          mode: asked.mode === "mask" ? "mask" : "extract",
          invert: asked.invert,
          preserve_alpha: asked.preserve_alpha,
        },
      },
    ];
  },
  renderResponse: (run, { jobs: [found = [], cuts = []] }) => ({
    ...run,
    objects: cuts.map((cut, index) => ({
      name: found[index]?.name ?? run.inputs.prompt,
      score: found[index]?.score ?? null,
      box: found[index]?.box ?? cut.box ?? null,
      asset_id: cut.asset_id,
      image_url: cut.url,
      mask_url: run.inputs.mode === "mask" ? cut.url : (found[index]?.url ?? null),
    })),
  }),
});

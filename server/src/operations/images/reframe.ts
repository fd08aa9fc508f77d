import { z } from "zod";
import { aspectRatio, modelToUse, promptField, runFields } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { allOrNone, atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

const EDGES = ["x_start", "x_end", "y_start", "y_end"];
const pixels = (description: string) => z.int().min(-32_768).max(32_768).optional().describe(description);

export const reframeImage = defineRun({
  name: "images.reframe",
  summary: "Change the aspect ratio of an image by outpainting",
  http: { method: "POST", path: "/edits/reframe", bodies: ["json", "form"] },
  run_type: "reframe",

  input: z.object({
    prompt: promptField("Text that describes the new area, 1 to 8,000 characters").optional(),
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    image_file: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    aspect_ratio: aspectRatio("New aspect ratio, such as 16:9"),
    model: modelToUse(
      ["photon-flash-1", "photon-1"],
      "Model to use: photon-flash-1 is faster, photon-1 has better quality. Default: photon-flash-1",
    ).default("photon-flash-1"),
    grid_position_x: pixels("Position of the image in the new frame, in pixels from the left"),
    grid_position_y: pixels("Position of the image in the new frame, in pixels from the top"),
    x_start: pixels("Left edge of the new frame, in pixels from the left edge of the image"),
    x_end: pixels("Right edge of the new frame, in pixels from the left edge of the image"),
    y_start: pixels("Top edge of the new frame, in pixels from the top edge of the image"),
    y_end: pixels("Bottom edge of the new frame, in pixels from the top edge of the image"),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image_file"), allOrNone("required", ...EDGES)],
  output: Run,
  example: { image_url: "https://example.com/desk.png", aspect_ratio: "16:9", prompt: "more of the room" },

  parent: (input) => input.run_id,
  plan: (input, provided) => [
    {
      task: "image.reframe",
      model: input.model,
      prompt: input.prompt,
      images: [firstSource(input.image_file, input.image_url, selectedOutput(input.run_id, input))!],
      aspect_ratio: input.aspect_ratio,
      options: pickProvided(input, provided, ["grid_position_x", "grid_position_y", ...EDGES]),
    },
  ],
  renderResponse: (run) => run,
});

import { z } from "zod";
import { aspectRatio, promptField, runFields, runId } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { allOrNone, atLeastOne } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

const EDGES = ["x_start", "x_end", "y_start", "y_end"];
const pixels = (says: string) => z.int().min(-32_768).max(32_768).optional().describe(says);

export const reframeImage = defineOperation({
  name: "images.reframe",
  summary: "Change an image's aspect ratio by outpainting",
  http: { method: "POST", path: "/edits/reframe", bodies: ["json", "form"] },
  run_type: "reframe",

  input: z.object({
    prompt: promptField("What the new area shows").optional(),
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image_file: fileField("The image as a file; it goes before the others").optional(),
    aspect_ratio: aspectRatio("The new shape, such as 16:9"),
    model: z
      .enum(["photon-flash-1", "photon-1"])
      .default("photon-flash-1")
      .describe("photon-flash-1 is faster, photon-1 better"),
    grid_position_x: pixels("Where the image lies in the new frame, from the left"),
    grid_position_y: pixels("Where the image lies in the new frame, from the top"),
    x_start: pixels("Left edge of the new frame, counted from the image's own left edge"),
    x_end: pixels("Right edge of the new frame"),
    y_start: pixels("Upper edge of the new frame, counted from the image's own upper edge"),
    y_end: pixels("Lower edge of the new frame"),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image_file"), allOrNone("required", ...EDGES)],
  output: Run,
  example: { image_url: "https://example.com/desk.png", aspect_ratio: "16:9", prompt: "more of the room" },

  parent: (asked) => asked.run_id,
  plan: (asked, given) => [
    {
      task: "image.reframe",
      model: asked.model,
      prompt: asked.prompt,
      images: [firstSource(asked.image_file, asked.image_url, asked.run_id)!],
      aspect_ratio: asked.aspect_ratio,
      options: pickProvided(asked, given, ["grid_position_x", "grid_position_y", ...EDGES]),
    },
  ],
  renderResponse: (run) => run,
});

import { z } from "zod";
import { textField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Estimate } from "../../kit/schemas/library.ts";

export const estimateRun = defineOperation({
  name: "runs.estimate",
  summary: "Estimate the cost of a run without creating it",
  http: { method: "POST", path: "/runs/estimate", bodies: ["json"] },
  input: z.object({
    operation: textField("Name of the operation, such as images.generate", 128),
    input: z
      .record(z.string(), z.unknown())
      .describe("Input of the operation")
      // The input can contain base64 images, as in the operation itself.
      .meta({ "x-inline": true }),
  }),
  output: Estimate,
  example: { operation: "images.generate", input: { prompt: "a red bicycle by the sea", batch_size: 2 } },
  respond: (input, services) => services.runs.estimate(input.operation, input.input),
});

import { z } from "zod";
import { textField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Estimate } from "../../kit/schemas/library.ts";

export const estimateRun = defineOperation({
  name: "runs.estimate",
  summary: "What a run would cost, and why; no run is made",
  http: { method: "POST", path: "/runs/estimate", bodies: ["json"] },
  input: z.object({
    operation: textField("The operation's name, such as images.generate", 128),
    input: z
      .record(z.string(), z.unknown())
      .describe("What would be sent to that operation")
      // The inner input may hold pictures as base64, as the operation itself would take them.
      .meta({ "x-inline": true }),
  }),
  output: Estimate,
  example: { operation: "images.generate", input: { prompt: "a red bicycle by the sea", batch_size: 2 } },
  respond: (input, ask) => ask.estimate(input.operation, input.input),
});

import { z } from "zod";
import { anyModelName, runFields } from "../../contract/fields.ts";
import { planModelRun, showModelResult } from "../../contract/model-run.ts";
import { defineRun } from "../../contract/operation.ts";
import { Run } from "../../contract/schemas/run.ts";

export const createRun = defineRun({
  name: "runs.create",
  summary: "Run any imported model with its own parameters",
  http: { method: "POST", path: "/runs", bodies: ["json"] },
  run_type: "model",

  input: z.object({
    model: anyModelName().describe(
      "Name of an imported model, such as fal:fal-ai/veo3.1/fast, or an alias of one. See catalogue.listModels",
    ),
    input: z
      .record(z.string(), z.unknown())
      .describe(
        "Input of the model, by its own schema. A file is a URL, base64, a run ID, or an output of a run. See " +
          "catalogue.getModel",
      )
      .meta({ "x-inline": true }),
    ...runFields,
  }),
  output: Run,
  example: { model: "sandbox:replay/studio", input: { prompt: "a boat lands", width: 512, height: 512 } },

  // A video of a large model takes longer than an image.
  deadlineSeconds: 3600,
  usesImportedModel: true,
  // Nothing names the parent but the first file.
  parent: () => undefined,
  // Without a model, only the task is known: the catalogue lists operations by it.
  plan: ({ model, input }, _provided, { imported }) => [
    imported ? planModelRun(imported, input) : { task: "model.run", model },
  ],
  renderResult: (_input, result) => showModelResult(result),
  renderResponse: (run) => run,
});

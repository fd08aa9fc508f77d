import { z } from "zod";
import { runFields, runId } from "../../contract/fields.ts";
import { defineRun } from "../../contract/operation.ts";
import { Run } from "../../contract/schemas/run.ts";

export const rerun = defineRun({
  name: "runs.rerun",
  summary: "Create a run with the request of an earlier run and changes to it",
  http: { method: "POST", path: "/runs/:run_id/rerun", bodies: ["json"] },
  input: z.object({
    run_id: runId("Run whose request is repeated. It becomes the parent of the new run"),
    changes: z
      .record(z.string(), z.unknown())
      .default({})
      .describe(
        "Changes to `given` of the run, as a JSON merge patch: null removes a field, other values replace it. Default: none",
      )
      // The changes can contain base64 images, as the request itself.
      .meta({ "x-inline": true }),
    sync: runFields.sync,
  }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", changes: { seed: 7 } },
  repeatRun: ({ run_id, changes }) => ({ run_id, changes }),
  renderResponse: (run) => run,
});

import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/schemas/run.ts";

export const cancelRun = defineOperation({
  name: "runs.cancel",
  summary: "Cancel a run. Gesso also cancels the job at the provider where possible",
  http: { method: "POST", path: "/runs/:run_id/cancel" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.runs.cancel(input.run_id),
});

import { z } from "zod";
import { runId } from "../../contract/fields.ts";
import { Run } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import { type CancelDependencies, cancelOpenRun } from "../../library/cancel-runs.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { isRunOpen, type RenderDependencies, renderRun } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const cancelRun = defineQuery({
  name: "runs.cancel",
  summary: "Cancel a run. Gesso also cancels the job at the provider where possible",
  http: { method: "POST", path: "/runs/:run_id/cancel" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ run_id }, request, services: CancelDependencies & RenderDependencies) {
    if (!isRunOpen(await requireOwnRun(request, run_id))) throw new Fault("run_not_cancelable");
    if (!(await cancelOpenRun(services, request, run_id))) throw new Fault("run_not_cancelable");
    return renderRun(services, await requireOwnRun(request, run_id));
  },
});

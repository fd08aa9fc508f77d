import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/schemas/run.ts";

export const getRun = defineOperation({
  name: "runs.get",
  summary: "Get a run",
  http: { method: "GET", path: "/runs/:run_id" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.runs.get(input.run_id),
});

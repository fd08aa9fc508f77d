import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/schemas/run.ts";

export const deleteRun = defineOperation({
  name: "runs.delete",
  summary: "Delete an ended run and its files. Returns the deleted run",
  http: { method: "DELETE", path: "/runs/:run_id" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.runs.delete(input.run_id),
});

import { z } from "zod";
import { runId } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { RunTree } from "../../kit/schemas/library.ts";

export const getRunTree = defineOperation({
  name: "runs.tree",
  summary: "Get the tree of a run: all derived runs and the runs they refer to",
  http: { method: "GET", path: "/runs/:run_id/tree" },
  input: z.object({ run_id: runId("Any run of the tree") }),
  output: RunTree,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.runs.tree(input.run_id),
});

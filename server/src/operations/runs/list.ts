import { z } from "zod";
import { runId, textField, timestampField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { RUN_STATUSES, RunPage } from "../../kit/schemas/run.ts";

export const listRuns = defineOperation({
  name: "runs.list",
  summary: "List runs, newest first",
  http: { method: "GET", path: "/runs" },
  input: z.object({
    ...paginationFields,
    status: z.enum(RUN_STATUSES).optional().describe("Only runs with this status"),
    run_type: textField("Only runs with this run_type", 64).optional(),
    parent_run_id: runId("Only runs derived from this run").optional(),
    created_after: timestampField("Only runs accepted after this time").optional(),
  }),
  output: RunPage,
  example: { limit: 20 },
  respond: (input, services) => services.runs.list(input),
});

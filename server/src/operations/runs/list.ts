import { z } from "zod";
import { runId, textField, timestampField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { RUN_STATUSES, RunPage } from "../../kit/schemas/run.ts";

export const listRuns = defineOperation({
  name: "runs.list",
  summary: "Your runs, newest first",
  http: { method: "GET", path: "/runs" },
  input: z.object({
    ...paginationFields,
    status: z.enum(RUN_STATUSES).optional().describe("Only runs in this state"),
    run_type: textField("Only runs of this kind", 64).optional(),
    parent_run_id: runId("Only runs made from this one").optional(),
    created_after: timestampField("Only runs accepted later than this").optional(),
  }),
  output: RunPage,
  example: { limit: 20 },
  respond: (input, ask) => ask.runs(input),
});

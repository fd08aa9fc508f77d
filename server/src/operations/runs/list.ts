import { z } from "zod";
import { moment, runId, words } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { RunPage, STATUSES } from "../../kit/shapes.ts";

export const listRuns = defineOperation({
  name: "runs.list",
  summary: "Your runs, newest first",
  http: { method: "GET", path: "/runs" },
  input: z.object({
    ...perPage,
    status: z.enum(STATUSES).optional().describe("Only runs in this state"),
    run_type: words("Only runs of this kind", 64).optional(),
    parent_run_id: runId("Only runs made from this one").optional(),
    created_after: moment("Only runs accepted later than this").optional(),
  }),
  output: RunPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.runs(input),
});

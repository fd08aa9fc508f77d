import { z } from "zod";
import { endUser, runId, textField, timestampField } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { endedRunFilterFields, runFilterFields, runTag } from "../../kit/run-filters.ts";
import { RUN_STATUSES, RunPage } from "../../kit/schemas/run.ts";

export const listRuns = defineOperation({
  name: "runs.list",
  summary: "List and search runs, newest first. A page can be short although `next_cursor` is set",
  http: { method: "GET", path: "/runs" },
  input: z.object({
    ...paginationFields,
    q: textField(
      "Only runs whose prompt has all these words, in any order. Case-insensitive, whole words, at most 200 characters",
      200,
    ).optional(),
    status: z.enum(RUN_STATUSES).optional().describe("Only runs with this status"),
    ...runFilterFields,
    ...endedRunFilterFields,
    end_user: endUser("Only runs of this end user. An access token sees only those of its own").optional(),
    parent_run_id: runId("Only runs derived from this run").optional(),
    starred: z.boolean().optional().describe("With true, only runs with a star"),
    tag: runTag("Only runs with this tag").optional(),
    created_after: timestampField("Only runs accepted after this time").optional(),
    created_before: timestampField("Only runs accepted before this time").optional(),
  }),
  output: RunPage,
  example: { limit: 20 },
  respond: (input, services) => services.runs.list(input),
});

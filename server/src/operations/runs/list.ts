import { z } from "zod";
import { endUser, runId, textField, timestampField } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { endedRunFilterFields, runFilterFields, runTag } from "../../contract/run-filters.ts";
import { RUN_STATUSES, RunPage } from "../../contract/schemas/run.ts";
import { listRunPage } from "../../library/list-runs.ts";
import type { RenderDependencies } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

export const listRuns = defineQuery({
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
  handle: (filter, request, services: RenderDependencies) => listRunPage(services, request, filter),
});

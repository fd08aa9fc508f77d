import { z } from "zod";
import { cursorScope } from "../../access/cursors.ts";
import type { RequestContext } from "../../access/request-context.ts";
import { endUser, runId, textField, timestampField } from "../../contract/fields.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { endedRunFilterFields, type RunFilter, runFilterFields, runTag } from "../../contract/run-filters.ts";
import { RUN_STATUSES, RunPage } from "../../contract/schemas/run.ts";
import { listRunRows } from "../../db/search/list-runs.ts";
import { addMarks } from "../../library/run-marks.ts";
import { type RenderDependencies, renderRun } from "../../runs/show/render-run.ts";
import { defineQuery } from "../define-query.ts";

/**
 * Lists the runs of a tenant in pages, newest first. A page can be short although there are more runs: each request
 * reads a bounded number of rows.
 */
export async function listRunPage(
  services: RenderDependencies,
  { database, caller, cursors }: RequestContext,
  { cursor, limit, ...filter }: RunFilter,
): Promise<RunPage> {
  const scope = cursorScope(caller.tenant_id, filter);
  const before = cursor === undefined ? undefined : cursors.verify(scope, cursor);
  // One more than the page, to know whether there is a next one.
  const { rows, nextBefore } = await listRunRows(database, caller.tenant_id, { ...filter, before }, limit + 1);
  const page = rows.slice(0, limit).map((row) => renderRun(services, row));
  const lastId = rows.length > limit ? page.at(-1)!.run_id : nextBefore;
  return {
    data: await addMarks(database, caller.tenant_id, page),
    next_cursor: lastId === null ? null : cursors.sign(scope, lastId),
  };
}

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
    customer: endUser("Only runs of this customer").optional(),
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

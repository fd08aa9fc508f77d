// Lists the runs of a tenant in pages, newest first. A page can be short although there are more runs: each request
// reads a bounded number of rows.

import { cursorScope } from "../access/cursors.ts";
import type { RequestContext } from "../access/request-context.ts";
import type { RunFilter } from "../contract/run-filters.ts";
import type { RunPage } from "../contract/schemas/run.ts";
import { listRunRows } from "../db/search/list-runs.ts";
import { type RenderDependencies, renderRun } from "../runs/show/render-run.ts";
import { addMarks } from "./run-marks.ts";

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

// Lists the runs of a tenant in pages, newest first, and counts them by month. A page can be short although there are
// more runs: each request reads a bounded number of rows.
import { cursorScope } from "../access/cursors.ts";
import type { RequestContext } from "../access/request-context.ts";
import { listRunRows } from "../db/runs/list-runs.ts";
import { countRunsByMonth, countRunsOfEndUser } from "../db/runs/run-index.ts";
import { countedTerm } from "../db/runs/search-terms.ts";
import type { RunCountFilter, RunFilter } from "../kit/operation.ts";
import type { RunHistogram } from "../kit/schemas/library.ts";
import type { RunPage } from "../kit/schemas/run.ts";
import { renderRun } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";
import { addMarks } from "./run-marks.ts";

export async function listRunPage(
  services: Pick<Services, "assets">,
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

export async function reportRunHistogram(
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  filter: RunCountFilter,
): Promise<RunHistogram> {
  const { tenant_id, token } = caller;
  if (token) return { data: await countRunsOfEndUser(database, { tenant_id, end_user: token.end_user }, filter) };
  return { data: await countRunsByMonth(database, caller.tenant_id, countedTerm(filter)) };
}

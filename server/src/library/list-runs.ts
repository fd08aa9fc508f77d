// Lists the runs of a tenant in pages, newest first.
import { cursorScope } from "../access/cursors.ts";
import type { RequestContext } from "../access/request-context.ts";
import { listRunRows } from "../db/runs/list-runs.ts";
import type { RunFilter } from "../kit/operation.ts";
import type { RunPage } from "../kit/schemas/run.ts";
import { renderRun } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";

export async function listRunPage(
  services: Pick<Services, "assets">,
  { database, caller, cursors }: RequestContext,
  { cursor, limit, ...filter }: RunFilter,
): Promise<RunPage> {
  const scope = cursorScope(caller.tenant_id, filter);
  const before = cursor === undefined ? undefined : cursors.verify(scope, cursor);
  const rows = await listRunRows(database, caller.tenant_id, { ...filter, before }, limit + 1);
  const page = rows.slice(0, limit);
  return {
    data: page.map((row) => renderRun(services, row)),
    next_cursor: rows.length > limit ? cursors.sign(scope, page.at(-1)!.run_id) : null,
  };
}

// Stars and tags of runs: changes them, and adds them to the runs of a response.
import type { RequestContext } from "../access/request-context.ts";
import type { Run } from "../contract/schemas/run.ts";
import { listRunMarks, type RunMarks, saveRunMarks } from "../db/search/run-marks.ts";
import { Fault } from "../faults/faults.ts";

export type RunChange = { starred?: boolean | undefined; tags?: string[] | undefined };

const NO_MARKS: RunMarks = { starred: false, tags: [] };

export async function addMarks(database: RequestContext["database"], tenantId: string, runs: Run[]): Promise<Run[]> {
  const marks = await listRunMarks(
    database,
    tenantId,
    runs.map(({ run_id }) => run_id),
  );
  return runs.map((run) => ({ ...run, ...(marks.get(run.run_id) ?? NO_MARKS) }));
}

/** Tags keep the order of the request; a tag that is sent twice counts once. */
export async function changeMarks(
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  runId: string,
  { starred, tags }: RunChange,
): Promise<RunMarks> {
  const run = { run_id: runId, tenant_id: caller.tenant_id };
  const marks = await saveRunMarks(database, run, { starred, tags: tags && [...new Set(tags)] });
  if (!marks) throw new Fault("run_deleted");
  return marks;
}

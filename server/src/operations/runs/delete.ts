import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import type { RequestContext } from "../../access/request-context.ts";
import { runId } from "../../contract/fields.ts";
import { Run } from "../../contract/schemas/run.ts";
import { findRun, type RunRow, tombstoneRun } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import { isRunOpen, type RenderDependencies, renderRun } from "../../runs/show/render-run.ts";
import { type EraseDependencies, eraseArchivedRun, toRunRow } from "../../runs/upkeep/erase-archived-run.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Omit<EraseDependencies, "database"> & Pick<AccessDependencies, "systemDatabase"> & RenderDependencies;

export const deleteRun = defineQuery({
  name: "runs.delete",
  summary: "Delete an ended run and its files. Returns the deleted run",
  http: { method: "DELETE", path: "/runs/:run_id" },
  input: z.object({ run_id: runId("ID of the run") }),
  output: Run,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ run_id: runId }, request, services: Needs) {
    const { database, caller } = request;
    const row = await findRun(database, caller.tenant_id, runId);
    // The archive has the runs of the whole tenant: an end user deletes none there.
    if (caller.token) await requireOwnRun(request, runId);
    if (!row || row.deleted_at) return renderRun(services, await eraseFromArchive(services, request, runId));
    if (isRunOpen(row)) throw new Fault("conflict");
    if (!(await tombstoneRun(database, caller.tenant_id, runId, services.ids.next()))) throw new Fault("run_deleted");
    return renderRun(services, row);
  },
});

/** An archived run has no row, or only a tombstone that keeps the tree complete. Returns the run as it was. */
async function eraseFromArchive(services: Needs, request: RequestContext, runId: string): Promise<RunRow> {
  const { tenant_id } = request.caller;
  const erased = await eraseArchivedRun(
    { ...services, database: services.systemDatabase },
    { tenant_id, run_id: runId.toLowerCase() },
  );
  if (erased?.state === "erased") return toRunRow(erased.record);
  if (erased) throw new Fault("run_deleted");
  return requireOwnRun(request, runId);
}

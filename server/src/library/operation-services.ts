// The services for operations that do not start a run, on behalf of one caller. A run of another tenant returns
// run_not_found, as if it did not exist.
import type { RequestContext } from "../access/request-context.ts";
import { listAttempts } from "../db/runs/attempt-history.ts";
import { findRun, type RunRow, tombstoneRun } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { OperationServices, RunLibrary } from "../kit/operation.ts";
import type { SystemChecks } from "../kit/schemas/system.ts";
import { eraseArchivedRun, toRunRow } from "../runs/erase-archived-run.ts";
import { estimateJobs, planOperation } from "../runs/estimate.ts";
import { isRunOpen, renderAttempt, renderRun } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";
import { addSourceSizes } from "../runs/source-sizes.ts";
import { cancelMatchingRuns, cancelOpenRun } from "./cancel-runs.ts";
import { buildLayers } from "./layers.ts";
import { listRunPage, reportRunHistogram } from "./list-runs.ts";
import { createModelRegistry } from "./model-registry.ts";
import { buildCatalogue } from "./offer-catalogue.ts";
import { createPromptStore } from "./prompts.ts";
import { type ProvenanceReportDependencies, reportRunProvenance, verifySentFile } from "./provenance.ts";
import { findQueuePosition } from "./queue-position.ts";
import { reportRunLedger } from "./run-ledger.ts";
import { addMarks, changeMarks } from "./run-marks.ts";
import { buildRunTree } from "./run-tree.ts";
import { reportSystem } from "./system-report.ts";
import { applyTenantCredit } from "./tenant-credit.ts";
import { type UploadDependencies, uploadFile } from "./upload.ts";
import { reportTenantUsage, reportUsage } from "./usage.ts";

export type OperationDependencies = UploadDependencies &
  ProvenanceReportDependencies &
  Pick<Services, "database" | "providers" | "notifications" | "loras" | "clock"> & {
    /** The checks of the doctor. */
    checkInstallation(): Promise<SystemChecks>;
  };

export function createOperationServices(
  services: OperationDependencies,
  context: RequestContext,
): Omit<OperationServices, keyof AccessServices | "webhooks" | "admin"> {
  return {
    runs: createRunLibrary(services, context),
    money: {
      usage: (filter) => reportUsage(services, context, filter),
      tenantUsage: (tenantId, days) => reportTenantUsage(services, context, tenantId, days),
      ledger: async (runId) => reportRunLedger(context.database, await requireOwnRun(context, runId)),
      credit: (tenantId, change) => applyTenantCredit(services.ids, context, { tenantId, ...change }),
    },
    provenance: {
      verify: (file) => verifySentFile(services, context, file),
      reportRun: async (runId) => reportRunProvenance(services, context, await requireOwnRun(context, runId)),
    },
    prompts: createPromptStore(services.ids, context),
    models: createModelRegistry(services, context),
    system: { get: () => reportSystem(services, context) },
    catalogue: { get: async () => buildCatalogue(services, context.caller) },
  };
}

function createRunLibrary(services: OperationDependencies, context: RequestContext): RunLibrary {
  const { database, caller } = context;
  const scoped = { ...services, database };
  return {
    get: async (runId) => {
      const row = await requireOwnRun(context, runId);
      const attempts = (await listAttempts(database, runId)).map(renderAttempt);
      const [run] = await addMarks(database, caller.tenant_id, [renderRun(services, row)]);
      return { ...run!, ...(await findQueuePosition(scoped, row)), attempts };
    },
    list: (filter) => listRunPage(services, context, filter),
    histogram: (filter) => reportRunHistogram(context, filter),
    tree: async (runId) => buildRunTree(scoped, await requireOwnRun(context, runId)),
    layers: async (runId) => buildLayers(scoped, await requireOwnRun(context, runId)),
    estimate: async (operation, input) =>
      estimateJobs(services, await addSourceSizes(scoped, caller.tenant_id, planOperation(operation, input), [])),

    async cancel(runId) {
      if (!isRunOpen(await requireOwnRun(context, runId))) throw new Fault("run_not_cancelable");
      if (!(await cancelOpenRun(services, context, runId))) throw new Fault("run_not_cancelable");
      return renderRun(services, await requireOwnRun(context, runId));
    },
    cancelAll: (filter) => cancelMatchingRuns(services, context, filter),

    async update(runId, change) {
      const row = await requireOwnRun(context, runId);
      return { ...renderRun(services, row), ...(await changeMarks(context, runId, change)) };
    },

    async delete(runId) {
      const row = await findRun(database, caller.tenant_id, runId);
      // The archive has the runs of the whole tenant: an end user deletes none there.
      if (caller.token) await requireOwnRun(context, runId);
      if (!row || row.deleted_at) return renderRun(services, await eraseFromArchive(services, context, runId));
      if (isRunOpen(row)) throw new Fault("conflict");
      if (!(await tombstoneRun(database, caller.tenant_id, runId, services.ids.next()))) throw new Fault("run_deleted");
      return renderRun(services, row);
    },

    async upload(file, options) {
      const row = await uploadFile(services, context, file, options);
      context.onRunAccepted(row.run_id);
      return renderRun(services, row);
    },
  };
}

/** An archived run has no row, or only a tombstone that keeps the tree complete. Returns the run as it was. */
async function eraseFromArchive(
  services: OperationDependencies,
  context: RequestContext,
  runId: string,
): Promise<RunRow> {
  const { tenant_id } = context.caller;
  const erased = await eraseArchivedRun(services, { tenant_id, run_id: runId.toLowerCase() });
  if (erased?.state === "erased") return toRunRow(erased.record);
  if (erased) throw new Fault("run_deleted");
  return requireOwnRun(context, runId);
}

export async function requireOwnRun(
  { database, caller }: Pick<RequestContext, "database" | "caller">,
  runId: string,
): Promise<RunRow> {
  const row = await findRun(database, caller.tenant_id, runId);
  if (!row) throw new Fault("run_not_found");
  if (row.deleted_at) throw new Fault("run_deleted");
  return row;
}

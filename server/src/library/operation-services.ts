// What operations without a plan may ask of the house, in the name of one caller. Another tenant's run and no run at all
// are the same answer.
import { listAttempts } from "../db/runs/attempts.ts";
import { requestCancellation } from "../db/runs/open-runs.ts";
import { type Caller, findRun, type RunRow, tombstoneRun } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { OperationServices } from "../kit/operation.ts";
import { estimateOperation } from "../runs/estimate.ts";
import { deriveId } from "../runs/ids.ts";
import { isRunOpen, renderAttempt, renderRun } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";
import { buildLayers } from "./layers.ts";
import { type CursorSigner, listRunPage } from "./list-runs.ts";
import { createModelRegistry } from "./model-registry.ts";
import { createPromptLibrary } from "./prompts.ts";
import { findQueuePosition } from "./queue-position.ts";
import { buildRunTree } from "./run-tree.ts";
import { applyTenantCredit } from "./tenant-credit.ts";
import { uploadFile } from "./upload.ts";
import { reportUsage } from "./usage.ts";

/** `onRun` hears of a run that was made, `onReplay` that nothing had to be. */
export type RequestContext = {
  caller: Caller;
  idempotencyKey?: string | undefined;
  markReplayed?: () => void;
  onRunAccepted?: (runId: string) => void;
};

export const createOperationServices = (
  services: Services,
  cursors: CursorSigner,
  { caller, idempotencyKey, markReplayed: onReplay, onRunAccepted: onRun }: RequestContext,
): Omit<OperationServices, keyof AccessServices | "webhooks"> => ({
  run: async (runId) => {
    const row = await requireOwnRun(services, caller, runId);
    const attempts = (await listAttempts(services.db, runId)).map(renderAttempt);
    return { ...renderRun(services, row), ...(await findQueuePosition(services, row)), attempts };
  },
  runs: (filter) => listRunPage(services, cursors, caller, filter),
  tree: async (runId) => buildRunTree(services, await requireOwnRun(services, caller, runId)),
  layers: async (runId) => buildLayers(services, await requireOwnRun(services, caller, runId)),
  estimate: async (operation, input) => estimateOperation(services, operation, input),
  usage: (filter) => reportUsage(services, caller, filter),
  credit: (tenantId, change) =>
    applyTenantCredit(services, { caller, idempotencyKey, onReplay }, { tenantId, ...change }),
  prompts: createPromptLibrary(services, cursors, { caller, idempotencyKey, onReplay }),
  models: createModelRegistry(services, cursors, { caller, idempotencyKey, onReplay }),

  async cancel(runId) {
    if (!isRunOpen(await requireOwnRun(services, caller, runId))) throw new Fault("run_not_cancelable");
    const error = new Fault("canceled_by_user").body();
    const {
      ended,
      is_requested: isRequested,
      wakeup_id: wake_id,
    } = await requestCancellation(services.db, caller.tenant_id, runId, error, deriveId(runId, "end"));
    if (!ended && !isRequested) throw new Fault("run_not_cancelable");
    if (ended) services.ended.notify(runId);
    // A bell that cannot be rung now is no loss: the run looks at the wish whenever it wakes.
    if (wake_id) await services.resolveWakeup(wake_id, "cancel").catch(() => {});
    return renderRun(services, await requireOwnRun(services, caller, runId));
  },

  async delete(runId) {
    const row = await requireOwnRun(services, caller, runId);
    if (isRunOpen(row)) throw new Fault("conflict");
    if (!(await tombstoneRun(services.db, caller.tenant_id, runId, services.newId()))) throw new Fault("run_deleted");
    return renderRun(services, row);
  },

  async upload(file, uploadDetails) {
    const { row, isReplay } = await uploadFile(services, caller, file, { ...uploadDetails, idempotencyKey });
    if (isReplay) onReplay?.();
    onRun?.(row.run_id);
    return renderRun(services, row);
  },
});

export async function requireOwnRun(services: Services, caller: Caller, runId: string): Promise<RunRow> {
  const row = await findRun(services.db, caller.tenant_id, runId);
  if (!row) throw new Fault("run_not_found");
  if (row.deleted_at) throw new Fault("run_deleted");
  return row;
}

// What operations without a plan may ask of the house, in the name of one caller. Another tenant's run and no run at all
// are the same answer.
import { listAttempts } from "../db/attempts.ts";
import { cancelRun } from "../db/open-runs.ts";
import { type Caller, deleteRun, findRun, type RunRow } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessAsk } from "../kit/access.ts";
import type { Ask } from "../kit/operation.ts";
import { creditTenant } from "./credit.ts";
import { estimateRun } from "./estimate.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { layersOf } from "./layers.ts";
import { type CursorSigner, listPage } from "./list.ts";
import { libraryOf } from "./prompts.ts";
import { placeOf } from "./queue-place.ts";
import { registryOf } from "./registry.ts";
import { isOpen, showAttempt, showRun } from "./show.ts";
import { treeOf } from "./tree.ts";
import { uploadFile } from "./upload.ts";
import { usageOf } from "./usage.ts";

/** `onRun` hears of a run that was made, `onReplay` that nothing had to be. */
export type AskContext = {
  caller: Caller;
  idempotencyKey?: string | undefined;
  onReplay?: () => void;
  onRun?: (runId: string) => void;
};

export const askOf = (
  house: House,
  cursors: CursorSigner,
  { caller, idempotencyKey, onReplay, onRun }: AskContext,
): Omit<Ask, keyof AccessAsk | "webhooks"> => ({
  run: async (runId) => {
    const row = await ownRun(house, caller, runId);
    const attempts = (await listAttempts(house.db, runId)).map(showAttempt);
    return { ...showRun(house, row), ...(await placeOf(house, row)), attempts };
  },
  runs: (filter) => listPage(house, cursors, caller, filter),
  tree: async (runId) => treeOf(house, await ownRun(house, caller, runId)),
  layers: async (runId) => layersOf(house, await ownRun(house, caller, runId)),
  estimate: async (operation, input) => estimateRun(house, operation, input),
  usage: (filter) => usageOf(house, caller, filter),
  credit: (tenantId, change) => creditTenant(house, { caller, idempotencyKey, onReplay }, { tenantId, ...change }),
  prompts: libraryOf(house, cursors, { caller, idempotencyKey, onReplay }),
  models: registryOf(house, cursors, { caller, idempotencyKey, onReplay }),

  async cancel(runId) {
    if (!isOpen(await ownRun(house, caller, runId))) throw new Fault("run_not_cancelable");
    const error = new Fault("canceled_by_user").body();
    const { ended, asked, wake_id } = await cancelRun(house.db, caller.tenant_id, runId, error, idWithin(runId, "end"));
    if (!ended && !asked) throw new Fault("run_not_cancelable");
    if (ended) house.ended.say(runId);
    // A bell that cannot be rung now is no loss: the run looks at the wish whenever it wakes.
    if (wake_id) await house.ring(wake_id, "cancel").catch(() => {});
    return showRun(house, await ownRun(house, caller, runId));
  },

  async delete(runId) {
    const row = await ownRun(house, caller, runId);
    if (isOpen(row)) throw new Fault("conflict");
    if (!(await deleteRun(house.db, caller.tenant_id, runId, house.newId()))) throw new Fault("run_deleted");
    return showRun(house, row);
  },

  async upload(file, about) {
    const { row, isReplay } = await uploadFile(house, caller, file, { ...about, idempotencyKey });
    if (isReplay) onReplay?.();
    onRun?.(row.run_id);
    return showRun(house, row);
  },
});

export async function ownRun(house: House, caller: Caller, runId: string): Promise<RunRow> {
  const row = await findRun(house.db, caller.tenant_id, runId);
  if (!row) throw new Fault("run_not_found");
  if (row.deleted_at) throw new Fault("run_deleted");
  return row;
}

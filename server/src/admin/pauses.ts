// Pauses and resumes parts of the installation for operators, and starts all open work in the engine again.

import type { RequestContext } from "../access/request-context.ts";
import type { PausedPart, PauseList, RebuiltEngine } from "../contract/schemas/admin-repairs.ts";
import { insertOperatorEntry } from "../db/admin/operator-entries.ts";
import { deletePause, insertPause, listPauses, type PauseKey } from "../db/admin/pauses.ts";
import { listWorkers } from "../db/admin/workers.ts";
import { requeueAllRuns } from "../db/runs/open-runs.ts";
import { requeueAllDeliveries } from "../db/webhooks/delivery-queue.ts";
import { Fault } from "../faults/faults.ts";
import type { Notifications } from "../runs/core/notifications.ts";

export type PauseDependencies = { notifications: Notifications; providerIds: readonly string[] };
type Caller = Pick<RequestContext, "database" | "caller">;

export async function listPausedParts({ database }: Pick<Caller, "database">): Promise<PauseList> {
  const rows = await listPauses(database);
  return { data: rows.map(({ paused_at, ...row }) => ({ ...row, paused_at: paused_at.toISOString() })) };
}

export async function pausePart(
  { providerIds }: PauseDependencies,
  { database, caller }: Caller,
  part: PausedPart,
): Promise<PauseList> {
  const key = toKey(part);
  // A wrong name would look like a pause and be none.
  if (key.kind === "provider" && !providerIds.includes(key.name)) throw new Fault("route_not_found");
  if (key.kind === "worker") await requireOtherWorker({ database }, key.name);
  await insertPause(database, caller, key);
  const pauses = await listPausedParts({ database });
  const isPaused = pauses.data.some(({ kind, name }) => kind === key.kind && name === key.name);
  if (!isPaused) throw new Fault("route_not_found");
  return pauses;
}

export async function resumePart(
  { notifications }: PauseDependencies,
  { database, caller }: Caller,
  part: PausedPart,
): Promise<PauseList> {
  await deletePause(database, caller, toKey(part));
  notifications.runQueued();
  return listPausedParts({ database });
}

/** Without another worker nothing would continue the runs until the worker is resumed. */
async function requireOtherWorker({ database }: Pick<Caller, "database">, workerId: string): Promise<void> {
  const workers = await listWorkers(database);
  if (!workers.some(({ worker_id }) => worker_id === workerId)) throw new Fault("route_not_found");
  const others = workers.filter(({ worker_id, draining_since }) => worker_id !== workerId && draining_since === null);
  if (others.length === 0) throw new Fault("conflict", { retryable: false, reason: "last_worker" });
}

function toKey({ provider, tenant_id, duty, worker_id }: PausedPart): PauseKey {
  if (provider !== undefined) return { kind: "provider", name: provider };
  if (worker_id !== undefined) return { kind: "worker", name: worker_id.toLowerCase() };
  return tenant_id !== undefined ? { kind: "tenant", name: tenant_id } : { kind: "duty", name: duty! };
}

/** Every invocation loses its epoch, so what is left of it in the engine changes nothing. */
export async function rebuildEngine(
  { notifications }: PauseDependencies,
  { database, caller }: Caller,
): Promise<RebuiltEngine> {
  await insertOperatorEntry(database, caller, {
    ...{ tenant_id: caller.tenant_id, action: "admin.rebuild", subject: "engine" },
  });
  const [runs, deliveries] = [await requeueAllRuns(database), await requeueAllDeliveries(database)];
  notifications.runQueued();
  return { runs, deliveries };
}

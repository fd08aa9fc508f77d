// Deletes tenants: cancels their open runs, waits until no process works on them any more, then deletes rows, stored
// objects and invocations of the engine. Every step is idempotent and its state is in PostgreSQL, so any worker
// continues after a crash. A deletion is complete when a pass over all tables and the storage finds nothing.

import {
  deleteAuditLog,
  deleteDeliveries,
  deleteRuns,
  deleteTenantRows,
  listDeliveriesToDelete,
  listRunsToDelete,
  type ParentBatch,
  retireLoraNames,
} from "../../db/access/delete-tenant-rows.ts";
import {
  addDeletedObjects,
  completeTenantDeletion,
  countPendingCancellations,
  keepTenantSuspended,
  listOpenRunsOfTenant,
  listOpenTenantDeletions,
  type OpenTenantDeletion,
  setTenantDeletionState,
} from "../../db/access/tenant-deletions.ts";
import type { Database } from "../../db/connect.ts";
import { requestCancellation } from "../../db/runs/open-runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { ListedObject } from "../../files/storage/object-storage.ts";
import { deriveId } from "../core/ids.ts";
import type { Notifications } from "../core/notifications.ts";
import type { Runtime } from "../core/runtime.ts";
import { endFromOutside } from "./end-from-outside.ts";

const BATCH = 500;
/** A canceled run ends by itself; one that does not, for example because no worker takes it, is ended from outside. */
const CANCEL_GRACE_SECONDS = 60;
/**
 * Longer than cached credentials are valid (5 s) and than a worker takes to remove spooled responses of ended runs
 * (5 s).
 */
const DRAIN_SECONDS = 20;
/** A provider that cannot be reached does not hold up a deletion for longer than this many cancellations of a job. */
const CANCELLATION_ATTEMPTS = 5;

export type TenantDeletionDependencies = Pick<Runtime, "ids" | "log"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
  notifications: Notifications;
  slowDatabase: Database;
  /** Removes the invocations of these runs and deliveries. Returns the number of those that are still there. */
  purgeInvocations(ids: string[]): Promise<number>;
};

/** Advances every open deletion by one step. Returns whether there is more to do at once. */
export async function advanceTenantDeletions(
  services: TenantDeletionDependencies,
  signal?: AbortSignal,
): Promise<boolean> {
  let hasMore = false;
  for (const deletion of await listOpenTenantDeletions(services.database)) {
    signal?.throwIfAborted();
    const isAdvanced = await advance(services, deletion, signal).catch((thrown) => {
      signal?.throwIfAborted();
      services.log.warn({ tenant_id: deletion.tenant_id, err: thrown }, "deleting a tenant failed; it is retried");
      return false;
    });
    hasMore ||= isAdvanced;
  }
  return hasMore;
}

async function advance(
  services: TenantDeletionDependencies,
  { tenant_id, state, seconds_in_state }: OpenTenantDeletion,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { database, log } = services;
  if (state === "canceling_runs" || state === "draining") {
    await keepTenantSuspended(database, tenant_id);
    const openRuns = await cancelOpenRuns(services, tenant_id, signal);
    if (openRuns > 0) {
      if (state === "draining") await setTenantDeletionState(database, tenant_id, "canceling_runs");
      return false;
    }
    if (state === "canceling_runs") {
      await setTenantDeletionState(database, tenant_id, "draining");
      return false;
    }
    const pending = await countPendingCancellations(database, tenant_id, CANCELLATION_ATTEMPTS);
    if (seconds_in_state < DRAIN_SECONDS || pending > 0) return false;
    await setTenantDeletionState(database, tenant_id, "deleting");
    return true;
  }
  const found = await deleteEverything(services, tenant_id, signal);
  // The next pass comes after a pause, so that it also finds what another process was writing during this one.
  if (found === undefined || found > 0) return false;
  if (await completeTenantDeletion(database, tenant_id)) log.info({ tenant_id }, "tenant deleted");
  return true;
}

/** Returns the number of runs that are still open. */
async function cancelOpenRuns(
  services: TenantDeletionDependencies,
  tenantId: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { database } = services;
  const runs = await listOpenRunsOfTenant(database, tenantId, { graceSeconds: CANCEL_GRACE_SECONDS, limit: BATCH });
  for (const run of runs) {
    signal?.throwIfAborted();
    if (!run.is_cancel_requested) await cancelRun(services, tenantId, run.run_id);
    else if (run.is_stuck)
      await endFromOutside(services, run.run_id, { status: "canceled", fault: new Fault("canceled_by_user") });
  }
  return runs.length;
}

async function cancelRun(
  { database, notifications }: TenantDeletionDependencies,
  tenantId: string,
  runId: string,
): Promise<void> {
  const error = new Fault("canceled_by_user").body();
  const cancellation = await requestCancellation(database, tenantId, runId, error, deriveId(runId, "end"));
  if (cancellation.ended) notifications.runEnded(runId);
  // A wakeup that cannot be resolved now only costs time: the run checks for cancellation whenever it resumes.
  for (const wakeupId of cancellation.wakeupIds) await notifications.resolveWakeup(wakeupId, "cancel").catch(() => {});
}

/**
 * One pass over storage and tables. Returns what it found, or undefined if the engine is still ending invocations.
 * Objects come first: while their rows exist, nothing takes them for orphans of another installation.
 */
async function deleteEverything(
  services: TenantDeletionDependencies,
  tenantId: string,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { slowDatabase: db, purgeInvocations } = services;
  const objects = await deleteObjects(services, tenantId, signal);
  const deleteParents = async (
    list: (db: Database, tenantId: string) => Promise<ParentBatch>,
    remove: (db: Database, tenantId: string, ids: string[]) => Promise<number>,
  ) => {
    let deleted = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { ids, recentIds } = await list(db, tenantId);
      if (ids.length === 0) return deleted;
      // The journal of a run contains its plan. It is purged while the ids are known.
      if (recentIds.length > 0 && (await purgeInvocations(recentIds)) > 0) return undefined;
      deleted += await remove(db, tenantId, ids);
    }
  };
  const runs = await deleteParents(listRunsToDelete, deleteRuns);
  const deliveries = await deleteParents(listDeliveriesToDelete, deleteDeliveries);
  if (runs === undefined || deliveries === undefined) return undefined;
  const audit = await deleteAuditLog(db, tenantId);
  const rows = await deleteTenantRows(db, tenantId, signal);
  return objects + runs + deliveries + audit + rows + (await retireLoraNames(db, tenantId));
}

async function deleteObjects(
  { assets, database }: TenantDeletionDependencies,
  tenantId: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let count = 0;
  let batch: ListedObject[] = [];
  const deleteBatch = async () => {
    signal?.throwIfAborted();
    await assets.storage.delete(batch.map(({ key }) => key));
    const bytes = batch.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    await addDeletedObjects(database, tenantId, { objects: batch.length, bytes });
    count += batch.length;
    batch = [];
  };
  for await (const object of assets.storage.list(`t/${tenantId}/`)) {
    batch.push(object);
    if (batch.length === BATCH) await deleteBatch();
  }
  if (batch.length > 0) await deleteBatch();
  return count;
}

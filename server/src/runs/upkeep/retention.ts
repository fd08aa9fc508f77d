// Expires files after their retention time and deletes stored objects that no asset row references. If no stored object
// is referenced at all, nothing is deleted: the server may be connected to the wrong database. After a restore, nothing
// is deleted for some days: files of the lost period have no rows. One sweep deletes at most ORPHAN_SHARE of all
// objects.

import type { Database } from "../../db/connect.ts";
import { isRecentlyRestored } from "../../db/event-log.ts";
import {
  deleteOrphanRecords,
  expireAssets,
  listExpiredRuns,
  listReferencedKeys,
  recordOrphans,
} from "../../db/files/retention.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { ListedObject } from "../../files/storage/object-storage.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";

const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** An object is an orphan only if two sweeps this far apart find it, because its row may still be being inserted. */
const ORPHAN_CONFIRM_SECONDS = 60 * 60;
/** The key of a file of a run: its tenant and its run. */
export const ASSET_KEY_PATTERN = /^t\/([0-9a-f-]{36})\/r\/([0-9a-f-]{36})\/[0-9a-f]{64}$/;

/** Returns the number of runs whose files have expired. */
export async function expireRunFiles({
  database,
  ids,
}: Pick<Runtime, "ids"> & { database: Database }): Promise<number> {
  const runs = await listExpiredRuns(database, BATCH);
  if (runs.length > 0) await expireAssets(database, runs, ids.next());
  return runs.length;
}

export type OrphanSweepReport = { objects: number; orphans: number; deleted: number; unfinished: number };
/** `now` decides which objects are older than a day; `confirmSeconds` is the time between the two sightings. */
export type OrphanSweepOptions = { now?: number; confirmSeconds?: number; signal?: AbortSignal };

type SweepDependencies = Pick<Runtime, "clock" | "log"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
  settings: Pick<RunSettings, "maxOrphanShare" | "orphanHoldDays">;
};

export async function sweepOrphans(
  services: SweepDependencies,
  options: OrphanSweepOptions = {},
): Promise<OrphanSweepReport> {
  const { database, assets, clock } = services;
  const { now = clock.now(), confirmSeconds = ORPHAN_CONFIRM_SECONDS, signal } = options;
  const startedAt = new Date(clock.now());
  const unfinished = await assets.storage.maintenance.deleteUnfinished(new Date(now - DAY_MS));
  const found: FoundObjects = { objects: 0, referenced: 0, confirmedOrphans: [] };
  let orphans = 0;
  for await (const batch of inBatches(assets.storage.list("t/"))) {
    signal?.throwIfAborted();
    found.objects += batch.length;
    const referencedKeys = await findReferencedKeys(database, batch);
    found.referenced += referencedKeys.size;
    const keys = batch
      .filter(({ key, modified_at }) => !referencedKeys.has(key) && now - modified_at.getTime() > DAY_MS)
      .map(({ key }) => key)
      .filter((key) => ASSET_KEY_PATTERN.test(key));
    orphans += keys.length;
    if (keys.length > 0) found.confirmedOrphans.push(...(await recordOrphans(database, keys, confirmSeconds)));
  }
  signal?.throwIfAborted();
  const deletedKeys = await deleteOrphans(services, found);
  await deleteOrphanRecords(database, deletedKeys, startedAt);
  return { objects: found.objects, orphans, deleted: deletedKeys.length, unfinished };
}

type FoundObjects = { objects: number; referenced: number; confirmedOrphans: string[] };

async function deleteOrphans(
  { database, assets, settings, log }: SweepDependencies,
  { objects, referenced, confirmedOrphans }: FoundObjects,
): Promise<string[]> {
  if (confirmedOrphans.length === 0) return [];
  if (referenced === 0) {
    log.error({ objects }, "the database references no stored object: is this the right database? Nothing was deleted");
    return [];
  }
  const { orphanHoldDays } = settings;
  if (orphanHoldDays > 0 && (await isRecentlyRestored(database, orphanHoldDays))) {
    log.warn(
      { objects, orphans: confirmedOrphans.length, hold_days: orphanHoldDays },
      "the database was restored or failed over: orphaned objects are kept, because they may be files of a lost period",
    );
    return [];
  }
  const keys = confirmedOrphans.slice(0, Math.ceil(objects * settings.maxOrphanShare));
  await assets.storage.delete(keys);
  log.warn({ objects, deleted: keys.length, left: confirmedOrphans.length - keys.length }, "orphaned objects deleted");
  return keys;
}

async function findReferencedKeys(database: Database, batch: ListedObject[]): Promise<Set<string>> {
  const keys = batch.map(({ key }) => key);
  const runs = keys.flatMap((key) => ASSET_KEY_PATTERN.exec(key)?.[2] ?? []);
  return listReferencedKeys(database, [...new Set(runs)], keys);
}

/** Groups listed objects, so that each group is compared with one query. */
export async function* inBatches(objects: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject[]> {
  let batch: ListedObject[] = [];
  for await (const object of objects) {
    batch.push(object);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

// Expires files after their retention time and deletes stored objects that no asset row references. If no stored object is
// referenced at all, nothing is deleted: the server may be connected to the wrong database. One sweep deletes at most
// ORPHAN_SHARE of all objects.
import { z } from "zod";
import {
  deleteOrphanRecords,
  expireAssets,
  listExpiredRuns,
  listReferencedKeys,
  recordOrphans,
} from "../db/runs/retention.ts";
import type { ListedObject } from "../storage/object-storage.ts";
import type { Services } from "./services.ts";

export const RetentionEnv = z.object({
  RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .default(30)
    .describe("Days to keep a run's files after it ends. 0: forever"),
  EVENT_DAYS: z.coerce.number().int().min(1).default(30).describe("Days to keep events"),
  ORPHAN_SHARE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe("Maximum share of all stored objects that one sweep deletes as orphans, 0 to 1. 0: delete none"),
});

const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Between two sightings of an orphan; a file whose row is still being written is no orphan. */
const ORPHAN_CONFIRM_SECONDS = 60 * 60;
const ASSET_KEY_PATTERN = /^t\/[0-9a-f-]{36}\/r\/([0-9a-f-]{36})\/[0-9a-f]{64}$/;

/** How many runs have lost their files by now. */
export async function expireRunFiles(services: Services): Promise<number> {
  const runs = await listExpiredRuns(services.db, BATCH);
  if (runs.length > 0) await expireAssets(services.db, runs, services.newId());
  return runs.length;
}

export type OrphanSweepReport = { objects: number; orphans: number; deleted: number; unfinished: number };
export type OrphanSweepOptions = { now?: number; apartSeconds?: number };

export async function sweepOrphans(services: Services, options: OrphanSweepOptions = {}): Promise<OrphanSweepReport> {
  const { now = Date.now(), apartSeconds = ORPHAN_CONFIRM_SECONDS } = options;
  const begun = new Date();
  const unfinished = await services.storage.deleteUnfinished(new Date(now - DAY_MS));
  const found = { objects: 0, known: 0, orphans: 0, old: [] as string[] };
  for await (const batch of inBatches(services.storage.list("t/"))) {
    found.objects += batch.length;
    const known = await findReferencedKeys(services, batch);
    found.known += known.size;
    const lost = batch.filter(({ key, modified_at }) => !known.has(key) && now - modified_at.getTime() > DAY_MS);
    const keys = lost.map(({ key }) => key).filter((key) => ASSET_KEY_PATTERN.test(key));
    found.orphans += keys.length;
    if (keys.length > 0) found.old.push(...(await recordOrphans(services.db, keys, apartSeconds)));
  }
  const deletedKeys = await deleteOrphans(services, found);
  await deleteOrphanRecords(services.db, deletedKeys, begun);
  return { objects: found.objects, orphans: found.orphans, deleted: deletedKeys.length, unfinished };
}

async function deleteOrphans(
  services: Services,
  found: { objects: number; known: number; old: string[] },
): Promise<string[]> {
  const { objects, known, old } = found;
  if (old.length === 0) return [];
  if (known === 0) {
    services.log.error(
      { objects },
      "the database references no stored object: is this the right database? Nothing was deleted",
    );
    return [];
  }
  const keys = old.slice(0, Math.ceil(objects * services.orphanShare));
  await services.storage.delete(keys);
  services.log.warn({ objects, deleted: keys.length, left: old.length - keys.length }, "orphaned objects deleted");
  return keys;
}

async function findReferencedKeys(services: Services, batch: ListedObject[]): Promise<Set<string>> {
  const keys = batch.map(({ key }) => key);
  const runs = keys.flatMap((key) => ASSET_KEY_PATTERN.exec(key)?.[1] ?? []);
  return listReferencedKeys(services.db, [...new Set(runs)], keys);
}

async function* inBatches(objects: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject[]> {
  let batch: ListedObject[] = [];
  for await (const object of objects) {
    batch.push(object);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

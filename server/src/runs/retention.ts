// Files are kept as long as was promised and no longer, and nothing lies in storage that no row knows. What looks wrong
// in the large is left alone and told: a sweep with the wrong database must not empty the bucket.
import { z } from "zod";
import { expireFiles, findExpired, forgetOrphans, knownKeys, noteOrphans } from "../db/retention.ts";
import type { ListedObject } from "../media/storage.ts";
import type { House } from "./house.ts";

export const RetentionEnv = z.object({
  RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .default(30)
    .describe("Days after its end that a run's files are kept; 0 keeps them for ever"),
  EVENT_DAYS: z.coerce.number().int().min(1).default(30).describe("Days that the events of a day's runs are kept"),
  ORPHAN_SHARE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe("Share of all stored objects that one sweep may delete because no row knows them; 0 deletes none"),
});

const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Between two sightings of an orphan; a file whose row is still being written is no orphan. */
const APART_SECONDS = 60 * 60;
const OURS = /^t\/[0-9a-f-]{36}\/r\/([0-9a-f-]{36})\/[0-9a-f]{64}$/;

/** How many runs have lost their files by now. */
export async function expire(house: House): Promise<number> {
  const runs = await findExpired(house.db, BATCH);
  if (runs.length > 0) await expireFiles(house.db, runs, house.newId());
  return runs.length;
}

export type Sweep = { objects: number; orphans: number; deleted: number; unfinished: number };
export type SweepOptions = { now?: number; apartSeconds?: number };

export async function sweep(house: House, options: SweepOptions = {}): Promise<Sweep> {
  const { now = Date.now(), apartSeconds = APART_SECONDS } = options;
  const begun = new Date();
  const unfinished = await house.storage.forgetUnfinished(new Date(now - DAY_MS));
  const found = { objects: 0, known: 0, orphans: 0, old: [] as string[] };
  for await (const batch of inBatches(house.storage.list("t/"))) {
    found.objects += batch.length;
    const known = await whichAreKnown(house, batch);
    found.known += known.size;
    const lost = batch.filter(({ key, modified_at }) => !known.has(key) && now - modified_at.getTime() > DAY_MS);
    const keys = lost.map(({ key }) => key).filter((key) => OURS.test(key));
    found.orphans += keys.length;
    if (keys.length > 0) found.old.push(...(await noteOrphans(house.db, keys, apartSeconds)));
  }
  const gone = await removeSome(house, found);
  await forgetOrphans(house.db, gone, begun);
  return { objects: found.objects, orphans: found.orphans, deleted: gone.length, unfinished };
}

async function removeSome(house: House, found: { objects: number; known: number; old: string[] }): Promise<string[]> {
  const { objects, known, old } = found;
  if (old.length === 0) return [];
  if (known === 0) {
    house.log.error({ objects }, "no row knows any stored object: is this the right database? Nothing is deleted");
    return [];
  }
  const keys = old.slice(0, Math.ceil(objects * house.orphanShare));
  await house.storage.delete(keys);
  house.log.warn({ objects, deleted: keys.length, left: old.length - keys.length }, "orphans were swept");
  return keys;
}

async function whichAreKnown(house: House, batch: ListedObject[]): Promise<Set<string>> {
  const keys = batch.map(({ key }) => key);
  const runs = keys.flatMap((key) => OURS.exec(key)?.[1] ?? []);
  return knownKeys(house.db, [...new Set(runs)], keys);
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

// What is deleted or has had its time is gone: its address at once, its bytes within a minute, from a folder and from a
// bucket alike.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@gesso/dev/parts";
import { afterAll, describe, expect, it } from "vitest";
import type { Storage } from "../../src/media/storage.ts";
import { diskStorage } from "../../src/media/storage-disk.ts";
import { s3Storage } from "../../src/media/storage-s3.ts";
import { callerOf } from "../caller.ts";
import { startRadosgw, testKeys } from "../parts/radosgw.ts";
import { startWorld, type World } from "../world.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const MINUTE = 60_000;
type Place = { world: World; storage: Storage };

const onDisk = async (): Promise<Place> => {
  const world = await startWorld({ env: { RETENTION_DAYS: "7" } });
  stops.push(world.stop);
  return { world, storage: diskStorage(world.storageDir) };
};

const inBucket = async (): Promise<Place> => {
  const bucket = `retention-${Date.now()}`;
  const running = process.env.TEST_S3_ENDPOINT;
  const server = running
    ? { endpoint: running }
    : await startRadosgw(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  if ("stop" in server) stops.push(server.stop as () => Promise<void>);
  const { endpoint } = server;
  const storage = s3Storage({ endpoint, region: "us-east-1", bucket, ...testKeys, forcePathStyle: true });
  await storage.ensureBucket();
  const { accessKeyId, secretAccessKey } = testKeys;
  const keys = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey };
  const env = { RETENTION_DAYS: "7", STORAGE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket, ...keys };
  const world = await startWorld({ env });
  stops.push(world.stop);
  return { world, storage };
};

describe.each([
  ["a folder", onDisk],
  ["a bucket", inBucket],
])("in %s", (_, start) => {
  it("files live as long as was promised, then they are gone within a minute; so are those of a deleted run", async () => {
    const { world, storage } = await start();
    const caller = callerOf(world);
    const make = async (prompt: string) => {
      const { body } = await caller.generate({ prompt, width: 64, height: 64, sync: true });
      const [row] = await world.query<{ storage_key: string }>("select storage_key from assets where run_id = $1", [
        body.run_id,
      ]);
      return { ...body, key: row!.storage_key };
    };
    const status = async (url: string) => (await fetch(url)).status;
    const isStored = async (key: string) => (await storage.head(key)) !== undefined;
    const [expiring, deleted, kept] = [await make("one"), await make("two"), await make("three")];
    for (const run of [expiring, deleted, kept]) {
      expect(Date.parse(run.expires_at) - Date.parse(run.finished_at)).toBe(7 * 24 * 60 * MINUTE);
      expect([await status(run.image_url), await isStored(run.key)]).toEqual([200, true]);
    }

    const before = Date.now();
    await caller.delete(`/runs/${deleted.run_id}`);
    expect(await status(deleted.image_url)).toBe(410);
    await world.query("update runs set expires_at = now() where run_id = $1", [expiring.run_id]);
    await world.query("update expiring_runs set expires_at = now() where run_id = $1", [expiring.run_id]);
    await expect.poll(() => isStored(deleted.key), { timeout: MINUTE }).toBe(false);
    await expect.poll(() => status(expiring.image_url), { timeout: MINUTE }).toBe(410);
    await expect.poll(() => isStored(expiring.key), { timeout: MINUTE }).toBe(false);
    const seconds = (Date.now() - before) / 1000;
    console.log(`bytes gone after ${seconds.toFixed(1)} s`);
    expect(seconds).toBeLessThan(60);

    expect(await (await fetch(expiring.image_url)).json()).toMatchObject({ code: "asset_expired" });
    expect((await caller.get(`/runs/${expiring.run_id}`)).body).toMatchObject({ status: "completed" });
    const again = await caller.post("/edits/vendora", { prompt: "x", run_id: expiring.run_id });
    expect([again.status, again.body.code]).toEqual([410, "asset_expired"]);
    expect([await status(kept.image_url), await isStored(kept.key)]).toEqual([200, true]);
  }, 240_000);
});

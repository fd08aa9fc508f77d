import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFakeProviders } from "../../../test/support/fake-providers.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime, TEST_RUN_SETTINGS } from "../../../test/support/test-runtime.ts";
import type { Database } from "../../db/connect.ts";
import { repairEventClock } from "../../db/event-log.ts";
import { findAsset, insertSourceAsset } from "../../db/files/assets.ts";
import { saveRetentionDays } from "../../db/files/retention.ts";
import { insertUploadRun } from "../../db/runs/insert-upload.ts";
import { type AssetStore, createAssetStore } from "../../files/storage/asset-store.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import { assetKey } from "../../files/storage/object-storage.ts";
import { deriveId } from "../core/ids.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ProviderRegistry } from "../offers/provider-registry.ts";
import { processOutboxLane } from "./process-outbox.ts";
import { expireRunFiles, sweepOrphans } from "./retention.ts";

let database: TestDatabase;
let folder = "";
let services: Pick<Runtime, "clock" | "ids" | "log"> & {
  database: Database;
  assets: AssetStore;
  providers: ProviderRegistry;
  settings: RunSettings;
};
const logged: string[] = [];
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(tmpdir(), "gesso-retention-"));
  await database.owner.query("clean", "truncate orphaned_objects, expiring_runs, assets, outbox");
  const write = (_fields: object, message: string) => void logged.push(message);
  const runtime = createTestRuntime({ log: { info: write, warn: write, error: write } });
  const urls = { sign: () => "", verify: () => false };
  services = {
    ...runtime,
    settings: { ...TEST_RUN_SETTINGS, maxOrphanShare: 1 },
    database: database.db,
    assets: createAssetStore(createDiskStorage(folder), urls, "https://gesso.example"),
    providers: createFakeProviders(),
  };
  logged.length = 0;
});

const tenant_id: string = randomUUID();
const fileOf = async (run_id: string, content = "pixels", tenant = tenant_id) => {
  const sha256 = createHash("sha256").update(content).digest("hex");
  const storage_key = assetKey(tenant, run_id, sha256);
  await services.assets.storage.put(storage_key, Buffer.from(content), "image/png");
  const facts = { media_type: "image/png", width: 16, height: 16, size_bytes: content.length, sha256, role: "source" };
  return { asset_id: deriveId(run_id, content), storage_key, ...facts };
};
const uploaded = async (tenant = tenant_id) => {
  const run_id = v7();
  const asset = await fileOf(run_id, "pixels", tenant);
  const plain = { lane: "", inputs: {}, plan: [], metadata: {}, warnings: [], depth: 1, shard: 0, deadlineSeconds: 0 };
  const names = { operation: "images.upload", run_type: "upload", user_id: "me", root_run_id: run_id };
  const about = { ...plain, ...names, tenant_id: tenant, run_id, event_id: v7(), asset };
  // In the tenant's own name, as uploads come: whatever happens at the end of a run has no more rights than that.
  const row = await insertUploadRun(services.database.forTenant(tenant), about);
  return { row: row!, asset };
};
const isThere = async (key: string) => (await services.assets.storage.head(key)) !== undefined;
const days = (count: number) => count * 24 * 60 * 60 * 1000;

describe("the retention of files", () => {
  it("is fixed when a run ends, by the settings of that time", async () => {
    await saveRetentionDays(services.database, 30);
    const { row } = await uploaded();
    expect(row.expires_at!.getTime() - row.finished_at!.getTime()).toBe(days(30));
    await saveRetentionDays(services.database, 0);
    expect((await uploaded()).row.expires_at).toBe(null);
  });

  it("is the tenant's if the operator set one, and otherwise the default", async () => {
    await saveRetentionDays(services.database, 30);
    const keeps = async (said: number | null) => {
      const tenant = v7();
      const insert = "insert into tenants (tenant_id, name, retention_days) values ($1, 'x', $2)";
      await services.database.query("tenant", insert, [tenant, said]);
      const { expires_at, finished_at } = (await uploaded(tenant)).row;
      return expires_at && expires_at.getTime() - finished_at!.getTime();
    };
    expect([await keeps(3), await keeps(90), await keeps(0), await keeps(null)]).toEqual([
      ...[days(3), days(90), null, days(30)],
    ]);
    await saveRetentionDays(services.database, 0);
    expect([await keeps(3), await keeps(null)]).toEqual([days(3), null]);
  });

  it("ends for the files and not for the run, and not a minute early", async () => {
    await saveRetentionDays(services.database, 30);
    const { row, asset } = await uploaded();
    const other = await uploaded();
    const move = (by: string) =>
      services.database.query("move", "update expiring_runs set expires_at = now() + $2::interval where run_id = $1", [
        row.run_id,
        by,
      ]);
    await move("1 minute");
    expect(await expireRunFiles(services)).toBe(0);
    expect((await findAsset(services.database, asset.asset_id))?.deleted_at).toBe(null);
    await move("-1 second");
    expect(await expireRunFiles(services)).toBe(1);
    expect((await findAsset(services.database, asset.asset_id))?.deleted_at).not.toBe(null);
    await processOutboxLane(services, { exceptCancelsAt: [] });
    expect([await isThere(asset.storage_key), await isThere(other.asset.storage_key)]).toEqual([false, true]);
    expect(await expireRunFiles(services)).toBe(0);
  });
});

const withOrphanShare = (maxOrphanShare: number) => ({
  ...services,
  settings: { ...services.settings, maxOrphanShare },
});

describe("orphaned objects", () => {
  const later = { now: Date.now() + days(2), confirmSeconds: 0 };
  const known = () => uploaded().then(({ asset }) => asset.storage_key);
  const lost = async (content?: string) => (await fileOf(v7(), content)).storage_key;

  it("are removed when they were seen twice, a day after they were written", async () => {
    const [ours, orphan] = [await known(), await lost()];
    expect(await sweepOrphans(services, { confirmSeconds: 0 })).toMatchObject({ objects: 2, orphans: 0, deleted: 0 });
    const apart = { now: later.now, confirmSeconds: 3600 };
    expect(await sweepOrphans(services, apart)).toMatchObject({ orphans: 1, deleted: 0 });
    expect(await sweepOrphans(services, apart)).toMatchObject({ orphans: 1, deleted: 0 });
    await services.database.query("age", "update orphaned_objects set first_seen_at = now() - interval '2 hours'");
    expect(await sweepOrphans(services, apart)).toMatchObject({ orphans: 1, deleted: 1 });
    expect([await isThere(ours), await isThere(orphan)]).toEqual([true, false]);
    expect(await services.database.query("left", "select * from orphaned_objects")).toEqual([]);
  });

  it("are kept if a row appears", async () => {
    await known();
    const run_id = v7();
    const file = await fileOf(run_id, "late");
    await sweepOrphans(services, { ...later, confirmSeconds: 3600 });
    await insertSourceAsset(services.database, { run_id, tenant_id }, file);
    expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 0, deleted: 0 });
    expect(await isThere(file.storage_key)).toBe(true);
    expect(await services.database.query("left", "select * from orphaned_objects")).toEqual([]);
  });

  it("include deleted files whose bytes were left", async () => {
    await known();
    const { asset } = await uploaded();
    await services.database.query("gone", "update assets set deleted_at = now() where asset_id = $1", [asset.asset_id]);
    expect(await sweepOrphans(services, later)).toMatchObject({ deleted: 1 });
    expect(await isThere(asset.storage_key)).toBe(false);
  });

  it("are all kept if the database knows none: it may be the wrong database", async () => {
    const keys = [await lost("a"), await lost("b"), await lost("c")];
    for (let round = 0; round < 3; round++)
      expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 3, deleted: 0 });
    for (const key of keys) expect(await isThere(key)).toBe(true);
    expect(logged.join()).toContain("right database");
  });

  it("are removed in small numbers, unless the operator sets another limit", async () => {
    for (let n = 0; n < 45; n++) await known();
    for (let n = 0; n < 5; n++) await lost(`lost ${n}`);
    expect(await sweepOrphans(withOrphanShare(0.01), later)).toMatchObject({
      objects: 50,
      orphans: 5,
      deleted: 1,
    });
    expect(await sweepOrphans(withOrphanShare(0), later)).toMatchObject({ orphans: 4, deleted: 0 });
    expect(await sweepOrphans(withOrphanShare(1), later)).toMatchObject({ orphans: 4, deleted: 4 });
  });

  describe("after a restore of the database to an earlier time", () => {
    /** As if the server were a copy that was promoted: its timeline differs from the one in the restored rows. */
    const restore = () => database.owner.query("test.timeline", "update event_clock set timeline = timeline || '0'");
    const agePast = (interval: string) =>
      database.owner.query("test.age", "update lost_event_positions set noticed_at = now() - $1::interval", [interval]);
    beforeEach(async () => {
      await repairEventClock(services.database);
      await known();
    });
    afterEach(async () => {
      await repairEventClock(services.database);
      await database.owner.query("test.forget", "delete from lost_event_positions");
    });

    it("are kept, because files of the lost period have no rows, also if no process has noticed the restore", async () => {
      const orphan = await lost();
      await restore();
      expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 1, deleted: 0 });
      expect(await repairEventClock(services.database)).toBe(true);
      expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 1, deleted: 0 });
      expect(await isThere(orphan)).toBe(true);
      expect(logged.filter((message) => message.includes("restored or failed over"))).toHaveLength(2);
    });

    it("are removed when the days of the hold have passed", async () => {
      const orphan = await lost();
      await restore();
      await repairEventClock(services.database);
      await agePast("6 days 23 hours");
      expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 1, deleted: 0 });
      await agePast("7 days 1 hour");
      expect(await sweepOrphans(services, later)).toMatchObject({ orphans: 1, deleted: 1 });
      expect(await isThere(orphan)).toBe(false);
    });

    it("are removed at once if the operator sets no hold", async () => {
      await lost();
      await restore();
      const withoutHold = { ...services, settings: { ...services.settings, orphanHoldDays: 0 } };
      expect(await sweepOrphans(withoutHold, later)).toMatchObject({ orphans: 1, deleted: 1 });
    });
  });

  it("are only objects with a Gesso name", async () => {
    await known();
    await services.assets.storage.put("t/somebody/else", Buffer.from("x"), "text/plain");
    expect(await sweepOrphans(services, later)).toMatchObject({ objects: 2, orphans: 0, deleted: 0 });
    expect(await isThere("t/somebody/else")).toBe(true);
  });
});

it("unfinished temporary files are removed", async () => {
  await services.assets.storage.put("t/a/b", Buffer.from("x"), "text/plain");
  const { writeFileSync } = await import("node:fs");
  const draft = join(folder, "tmp", "draft");
  writeFileSync(draft, "half");
  expect(await sweepOrphans(services)).toMatchObject({ unfinished: 0 });
  utimesSync(draft, 0, 0);
  expect(await sweepOrphans(services)).toMatchObject({ unfinished: 1 });
});

// Stored bytes and files per tenant in a real database: what the triggers count and what the quota refuses.
import pg from "pg";
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { connectDatabase, type Database } from "../connect.ts";
import { insertRun, type NewRun } from "../runs/insert-run.ts";
import { insertUploadRun } from "../runs/insert-upload.ts";
import { tombstoneRun } from "../runs/runs.ts";
import { discardStagedRun, insertStagedRun, sweepStagedRows } from "../runs/staged-runs.ts";
import { insertSourceAsset, insertStagedAsset } from "./assets.ts";
import { expireAssets } from "./retention.ts";
import { findStorageMismatches } from "./storage-check.ts";
import { readStorageUsage, type StorageLimits } from "./storage-usage.ts";

let database: TestDatabase;
let tenant_id: string;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(() => {
  tenant_id = v7();
});

const fileOf = (size_bytes: number) => ({
  ...{
    asset_id: v7(),
    storage_key: `t/${tenant_id}/${v7()}`,
    media_type: "image/png",
    width: 16,
    height: 16,
    role: "source",
  },
  ...{ size_bytes, sha256: "0".repeat(64) },
});
const newRun = (storageLimits?: StorageLimits): NewRun => {
  const run_id = v7();
  return {
    ...{ run_id, root_run_id: run_id, tenant_id, user_id: "u", event_id: v7(), depth: 1, lane: "fake" },
    ...{ operation: "images.generate", run_type: "image-generation", deadlineSeconds: 600 },
    ...{ inputs: {}, plan: [], metadata: {}, warnings: [], storageLimits },
  };
};
const upload = (size: number, limits?: StorageLimits, db: Database = database.db.forTenant(tenant_id)) =>
  insertUploadRun(db, { ...newRun(limits), asset: fileOf(size) });
const usage = () => readStorageUsage(database.db.forTenant(tenant_id), tenant_id);
const codeOf = (thrown: unknown) => (thrown as { code?: string }).code ?? String(thrown);

describe("the storage usage of a tenant", () => {
  it("counts uploads, sources and staged images, each once", async () => {
    await upload(100);
    const source = fileOf(30);
    const run = { run_id: v7(), tenant_id };
    await insertSourceAsset(database.db, run, source);
    await insertSourceAsset(database.db, run, source);
    await insertStagedAsset(database.db.forTenant(tenant_id), run, fileOf(5));
    expect(await usage()).toEqual({ bytes: 135, files: 3 });
  });

  it("falls when a run is deleted, when its files expire and when staged images are discarded", async () => {
    const [deleted, expired] = [await upload(100), await upload(50)];
    const staged = { run_id: v7(), tenant_id };
    const [image, abandoned] = [fileOf(7), fileOf(9)];
    await insertStagedRun(database.db, staged);
    await insertStagedAsset(database.db, staged, image);
    await insertStagedAsset(database.db, staged, abandoned);
    await tombstoneRun(database.db.forTenant(tenant_id), tenant_id, deleted!.run_id, v7());
    expect(await usage()).toEqual({ bytes: 66, files: 3 });
    await database.owner.query(
      "test.expire",
      `insert into expiring_runs (run_id, tenant_id, expires_at) values ($1, $2, now() - interval '1 day')
       on conflict (run_id) do update set expires_at = excluded.expires_at`,
      [expired!.run_id, tenant_id],
    );
    await expireAssets(database.db, [expired!.run_id], v7());
    await expireAssets(database.db, [expired!.run_id], v7());
    expect(await usage()).toEqual({ bytes: 16, files: 2 });
    await discardStagedRun(database.db.forTenant(tenant_id), v7(), [image.asset_id]);
    expect(await usage()).toEqual({ bytes: 9, files: 1 });
    await sweepStagedRows(database.db, { ageSeconds: -1, limit: 500, outboxId: v7() });
    expect(await usage()).toEqual({ bytes: 0, files: 0 });
    expect(await findStorageMismatches(database.url, { pieceRows: 2 })).toEqual([]);
  });

  it("does not count thumbnails, which are deleted with their run", async () => {
    const thumbnailFiles = [{ ...fileOf(20), role: "thumbnail" }];
    const db = database.db.forTenant(tenant_id);
    const row = await insertUploadRun(db, { ...newRun(), asset: fileOf(100), thumbnailFiles });
    expect(await usage()).toEqual({ bytes: 100, files: 1 });
    expect(await findStorageMismatches(database.url)).toEqual([]);
    const outboxId = v7();
    await tombstoneRun(db, tenant_id, row!.run_id, outboxId);
    expect(await usage()).toEqual({ bytes: 0, files: 0 });
    const sql = "select payload from outbox where outbox_id = $1";
    const [work] = await database.owner.query<{ payload: { keys: string[] } }>("test.outbox", sql, [outboxId]);
    expect(work!.payload.keys).toContain(thumbnailFiles[0]!.storage_key);
    expect(await findStorageMismatches(database.url)).toEqual([]);
  });

  it("is visible only to its tenant", async () => {
    await upload(100);
    expect(await readStorageUsage(database.db.forTenant(v7()), tenant_id)).toEqual({ bytes: 0, files: 0 });
  });

  it("differs from the sum of the files only if the table was changed directly, and the check notices that", async () => {
    await upload(100);
    const change = (bytes: number) =>
      database.owner.query("test.change", "update storage_usage set bytes = bytes + $2 where tenant_id = $1", [
        tenant_id,
        bytes,
      ]);
    await change(1);
    expect(await findStorageMismatches(database.url)).toEqual([
      { tenant_id, counted: { bytes: 101, files: 1 }, stored: { bytes: 100, files: 1 } },
    ]);
    await change(-1);
    expect(await findStorageMismatches(database.url)).toEqual([]);
  });
});

describe("the storage quota", () => {
  it("accepts an upload that fills it exactly and refuses one more byte or file", async () => {
    await upload(60, { bytes: 100 });
    await expect(upload(41, { bytes: 100 })).rejects.toMatchObject({
      ...{ code: "storage_quota_exceeded", status: 403 },
      details: { limits: { storage_bytes: 100 } },
    });
    expect(await upload(40, { bytes: 100 })).toMatchObject({ status: "completed" });
    await expect(upload(1, { files: 2 })).rejects.toMatchObject({ code: "storage_quota_exceeded" });
    expect(await usage()).toEqual({ bytes: 100, files: 2 });
  });

  it("refuses a run only when it is used up, without waiting for a concurrent upload", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("begin; select is_within_storage_quota($1, 1, 1, 1)".replace("$1", `'${tenant_id}'`));
    const accept = () => insertRun(database.db.forTenant(tenant_id), newRun({ bytes: 100, files: 5 }));
    expect(await accept()).toMatchObject({ status: "queued" });
    await client.end();
    await upload(99);
    expect(await accept()).toMatchObject({ status: "queued" });
    await upload(1);
    await expect(accept()).rejects.toMatchObject({ code: "storage_quota_exceeded" });
    const [counted] = await database.db.query<{ count: number }>(
      "test.open",
      "select count(*)::int as count from open_runs where tenant_id = $1",
      [tenant_id],
    );
    expect(counted!.count).toBe(2);
  });

  it("holds while many connections upload at its edge, and the sums stay exact", async () => {
    // Every upload stays uncommitted for a moment after the check of the quota.
    await database.owner.query(
      "test.pause",
      "create function pause() returns trigger language plpgsql as 'begin perform pg_sleep(0.005); return null; end'",
    );
    await database.owner.query(
      "test.pause_uploads",
      "create trigger pause_uploads after insert on assets for each statement execute function pause()",
    );
    const pool = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 32 });
    const scoped = pool.forTenant(tenant_id);
    const limits = { bytes: 5_000 };
    const ends = await Promise.allSettled(Array.from({ length: 200 }, () => upload(100, limits, scoped)));
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [codeOf(end.reason)] : []));
    expect(new Set(refused)).toEqual(new Set(["storage_quota_exceeded"]));
    expect(ends.length - refused.length).toBe(50);
    expect(await usage()).toEqual({ bytes: 5_000, files: 50 });
    const runIds = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value!.run_id] : []));
    await Promise.all([
      ...runIds.slice(0, 30).map((runId) => tombstoneRun(scoped, tenant_id, runId, v7())),
      ...runIds.slice(0, 30).map(() => upload(100, limits, scoped).catch(() => undefined)),
    ]);
    expect((await usage()).bytes).toBeLessThanOrEqual(5_000);
    expect(await findStorageMismatches(database.url)).toEqual([]);
    await database.owner.query("test.unpause", "drop trigger pause_uploads on assets");
    await pool.close();
  });
});

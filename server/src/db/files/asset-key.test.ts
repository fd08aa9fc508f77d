// Rows of files have no storage key if it follows from the row: every reader derives the key under which the object is
// stored.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { assetKey } from "../../files/storage/object-storage.ts";
import { listExportedRows } from "../access/tenant-export.ts";
import { findKnownKeys, listAssetsSince } from "../admin/compare-installation.ts";
import { insertUploadRun } from "../runs/insert-upload.ts";
import { tombstoneRun } from "../runs/runs.ts";
import { insertStagedRun, sweepStagedRows } from "../runs/staged-runs.ts";
import { readSnapshot } from "../snapshot.ts";
import { findAsset, findAssets, insertProvenanceManifest, insertSourceAsset, insertStagedAsset } from "./assets.ts";
import { expireAssets, listReferencedKeys } from "./retention.ts";

const SHA256 = "0123456789abcdef".repeat(4);
const NO_ID = "00000000-0000-0000-0000-000000000000";
const TENANT = v7();
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await database.owner.query("test.tenant", "insert into tenants (tenant_id, name, limits) values ($1, 't', '{}')", [
    TENANT,
  ]);
});
afterAll(() => database.stop());

/** A completed run with one file, or only the file. */
async function insertFile({ hasRun = true } = {}) {
  const [run_id, asset_id] = [v7(), v7()];
  if (hasRun)
    await database.owner.query(
      "test.run",
      `insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, root_run_id, status, progress,
         result, finished_at, expires_at)
       values ($1, $2, 'u', 'o', 't', '{}', '[]', $1, 'completed', 1, '{"outputs": []}', now(), now())`,
      [run_id, TENANT],
    );
  await database.db.query(
    "test.asset",
    `insert into assets (asset_id, run_id, tenant_id, role, media_type, width, height, size_bytes, sha256)
     values ($1, $2, $3, 'result', 'image/png', 1, 1, 1, $4)`,
    [asset_id, run_id, TENANT, SHA256],
  );
  return { run_id, asset_id, key: assetKey(TENANT, run_id, SHA256) };
}
const keysToDelete = async (outboxId: string) => {
  const rows = await database.owner.query<{ keys: string[] }>(
    "test.outbox",
    "select payload -> 'keys' as keys from outbox where outbox_id = $1",
    [outboxId],
  );
  return rows[0]?.keys;
};

const INSERTS: Record<string, (run: { run_id: string; tenant_id: string }, file: NewFile) => Promise<unknown>> = {
  source: (run, file) => insertSourceAsset(database.db, run, file),
  staged: (run, file) => insertStagedAsset(database.db, run, file),
  manifest: (run, file) =>
    insertProvenanceManifest(database.db, run, { ...file, provenance_of: v7(), original_sha256: SHA256 }),
  upload: (run, asset) =>
    insertUploadRun(database.db, {
      ...{
        ...run,
        root_run_id: run.run_id,
        user_id: "u",
        event_id: v7(),
        depth: 1,
        lane: "fake",
        deadlineSeconds: 600,
      },
      ...{ operation: "o", run_type: "t", inputs: {}, plan: [], metadata: {}, warnings: [], asset },
    }),
};
type NewFile = Parameters<typeof insertSourceAsset>[2];

describe.each(Object.keys(INSERTS))("a new file: %s", (name) => {
  it.each([
    ["is stored without a key that follows from its row", null],
    ["is stored with any other key", "another/key"],
  ])("%s", async (_, stored) => {
    const [run_id, asset_id] = [v7(), v7()];
    const storage_key = stored ?? assetKey(TENANT, run_id, SHA256);
    const facts = { role: "source", media_type: "image/png", width: 1, height: 1, size_bytes: 1, sha256: SHA256 };
    await INSERTS[name]!({ run_id, tenant_id: TENANT }, { ...facts, asset_id, storage_key });
    const select = "select storage_key from assets where run_id = $1";
    expect(await database.owner.query("test.stored", select, [run_id])).toEqual([{ storage_key: stored }]);
    expect(await findAsset(database.db, asset_id)).toMatchObject({ storage_key });
  });
});

describe("a file without a stored key", () => {
  it("is found under the derived key, and a stored key goes first", async () => {
    const { asset_id, key } = await insertFile();
    expect(await findAsset(database.db, asset_id)).toMatchObject({ asset_id, storage_key: key });
    expect(await findAssets(database.db, TENANT, [asset_id])).toMatchObject([{ storage_key: key }]);
    await database.owner.query("test.key", "update assets set storage_key = 'k' where asset_id = $1", [asset_id]);
    expect(await findAsset(database.db, asset_id)).toMatchObject({ storage_key: "k" });
  });

  it("is not taken for a file without a row", async () => {
    const { run_id, key } = await insertFile();
    const keys = [key, `${key}0`];
    expect(await listReferencedKeys(database.db, [run_id], keys)).toEqual(new Set([key]));
    expect(await findKnownKeys(database.db, [run_id], keys)).toEqual(new Set([key]));
  });

  it("is compared with the storage", async () => {
    const { asset_id, key } = await insertFile();
    const rows = await listAssetsSince(database.db, { since: new Date(0), after: NO_ID, limit: 100 });
    expect(rows.find((row) => row.asset_id === asset_id)).toMatchObject({ storage_key: key });
  });

  it("is deleted from the storage with its run, at its expiry, and if its run was never accepted", async () => {
    const [deleted, expired, staged] = [await insertFile(), await insertFile(), await insertFile({ hasRun: false })];
    const outbox = [v7(), v7(), v7()] as const;
    await tombstoneRun(database.db, TENANT, deleted.run_id, outbox[0]);
    await expireAssets(database.db, [expired.run_id], outbox[1]);
    await insertStagedRun(database.db, { run_id: staged.run_id, tenant_id: TENANT });
    await sweepStagedRows(database.db, { ageSeconds: -1, limit: 10, outboxId: outbox[2] });
    expect(await Promise.all(outbox.map(keysToDelete))).toEqual([[deleted.key], [expired.key], [staged.key]]);
  });

  it("is exported and archived with its key", async () => {
    const { run_id, key } = await insertFile();
    const exported = await readSnapshot(database.url, async (snapshot) => {
      const files: unknown[] = [];
      for await (const { kind, data } of listExportedRows(snapshot, TENANT))
        if (kind === "file" && data.run_id === run_id) files.push(data.storage_key);
      return files;
    });
    expect(exported).toEqual([key]);
    const [archived] = await database.owner.query<{ line: string }>(
      "test.line",
      "select line from archived_run_lines(array[$1::uuid])",
      [run_id],
    );
    expect(JSON.parse(archived!.line).assets).toMatchObject([{ storage_key: key }]);
  });
});

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createPastRun, indexPastRuns, insertPastRuns, insertPrepaidTenant } from "../../test/support/past-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { openSnapshot } from "../db/snapshot.ts";
import { createAssetStore } from "../files/storage/asset-store.ts";
import { createAssetUrlSigner } from "../files/storage/asset-urls.ts";
import { createDiskStorage } from "../files/storage/disk-storage.ts";
import type { ObjectStorage } from "../files/storage/object-storage.ts";
import { archiveHistory } from "../runs/upkeep/archive.ts";
import { exportTenant } from "./export-tenant.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const PROMPTS = 1203;
const DAY_MS = 24 * 60 * 60 * 1000;

const storeOf = (storage: ObjectStorage) => {
  const urls = createAssetUrlSigner([new Uint8Array(32)], "https://gesso.example");
  return createAssetStore(storage, urls, "https://gesso.example");
};
const exportOf = (tenant: string, assets = storeOf({} as ObjectStorage)) => {
  const clock = createManualClock();
  return exportTenant({ assets, clock, openSnapshot: () => openSnapshot(database.url) }, tenant);
};
const insertPrompts = (tenant: string, count: number) =>
  database.db.query(
    "test.prompts",
    `insert into prompts (tenant_id, prompt_id, name, text, folded_name, folded_text)
     select $1, gen_random_uuid(), 'n', 't', 'n', 't' from generate_series(1, $2::int)`,
    [tenant, count],
  );
const insertTenant = async () => {
  const tenant = v7();
  await database.db.query("test.tenant", "insert into tenants (tenant_id, name) values ($1, 'x')", [tenant]);
  return tenant;
};

it("an export of many pages has every row once, of one moment and one tenant", async () => {
  const [tenant, other] = [await insertTenant(), await insertTenant()];
  await insertPrompts(tenant, PROMPTS);
  await insertPrompts(other, 10);
  const lines: any[] = [];
  for await (const line of exportOf(tenant)) {
    // Later changes are not seen, although most pages have not been read yet.
    if (lines.length === 0) await insertPrompts(tenant, 600);
    lines.push(JSON.parse(line));
  }
  const prompts = lines.filter(({ kind }) => kind === "prompt");
  expect(new Set(prompts.map(({ prompt_id }) => prompt_id)).size).toBe(PROMPTS);
  expect(prompts).toHaveLength(PROMPTS);
  expect(lines[0]).toEqual({ kind: "export", format: 1, tenant_id: tenant, exported_at: "1970-01-01T00:00:00.000Z" });
  expect(lines.at(-1)).toEqual({ kind: "end", lines: lines.length });
});

it("an export has what was archived after the line of its file, and tells which file the storage has lost", async () => {
  const tenant = v7();
  const now = Date.UTC(2026, 6, 20, 12);
  const runs = [60, 59, 1].map((days) => createPastRun({ tenant_id: tenant, created_at: now - days * DAY_MS }));
  await insertPastRuns(database.owner, runs);
  await insertPrepaidTenant(database.owner, tenant, runs);
  await indexPastRuns(database.db);
  const assets = storeOf(createDiskStorage(mkdtempSync(join(tmpdir(), "gesso-export-"))));
  const runtime = createTestRuntime({ clock: createManualClock(now) });
  await archiveHistory({ ...runtime, database: database.db, assets, settings: { archiveAfterDays: 30 } });

  const linesOf = async () => {
    const lines: any[] = [];
    for await (const line of exportOf(tenant, assets)) lines.push(JSON.parse(line));
    return lines;
  };
  const lines = await linesOf();
  const kinds = lines.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith("archive"))).toEqual([
    ...["archive_file", "archived_run"],
    ...["archive_file", "archived_run"],
  ]);
  const idsOf = (wanted: string) => lines.filter(({ kind }) => kind === wanted).map(({ run_id }) => run_id);
  expect([...idsOf("archived_run"), ...idsOf("run")].sort()).toEqual(runs.map(({ run_id }) => run_id).sort());
  expect(lines.find(({ kind }) => kind === "archived_run").transfers).toHaveLength(3);
  expect(lines.at(-1)).toEqual({ kind: "end", lines: lines.length });

  const files = lines.filter(({ kind }) => kind === "archive_file");
  expect(files.map(({ content, is_missing }) => [content, is_missing])).toEqual([
    ["runs", false],
    ["runs", false],
  ]);
  await assets.storage.delete([files[0].storage_key]);
  const rest = (await linesOf()).filter(({ kind }) => kind.startsWith("archive"));
  expect(rest.map(({ kind, is_missing }) => [kind, is_missing])).toEqual([
    ["archive_file", true],
    ["archive_file", false],
    ["archived_run", undefined],
  ]);
});

it("an export that is not read to its end closes its connection", async () => {
  const tenant = await insertTenant();
  await insertPrompts(tenant, 10);
  const countConnections = async () => {
    const [row] = await database.owner.query<{ count: number }>(
      "test.connections",
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction'`,
    );
    return row!.count;
  };
  const lines = exportOf(tenant);
  await lines.next();
  expect(await countConnections()).toBe(1);
  await lines.return(undefined);
  await expect.poll(countConnections).toBe(0);
});

it("an unknown tenant has no export", async () => {
  await expect(exportOf(v7()).next()).rejects.toMatchObject({ code: "route_not_found" });
});

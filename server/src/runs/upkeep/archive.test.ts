// Retention by archive on a real database and a real disk: what moves, what stays, and what a crash leaves.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import {
  createPastRun,
  indexPastRuns,
  insertPastRuns,
  insertPrepaidTenant,
  listKeys,
  type PastRun,
  sumEntries,
} from "../../../test/support/past-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime } from "../../../test/support/test-runtime.ts";
import type { UsageDimension } from "../../contract/schemas/usage.ts";
import { findLedgerViolations } from "../../db/money/ledger-check.ts";
import { sumUsage } from "../../db/money/usage.ts";
import { resetUsage } from "../../db/money/usage-sums.ts";
import { findRunTree } from "../../db/runs/run-tree.ts";
import { tombstoneRun } from "../../db/runs/runs.ts";
import { saveRunMarks } from "../../db/search/run-marks.ts";
import { createAssetStore } from "../../files/storage/asset-store.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";
import { type ArchiveDependencies, archiveHistory, findArchiveBorder } from "./archive.ts";
import { queryArchive } from "./query-archive.ts";

const NOW = Date.UTC(2026, 6, 20, 12);
const DAY = 24 * 60 * 60 * 1000;
const [TENANT, OTHER] = [v7(), v7()];

let database: TestDatabase;
let clock = createManualClock(NOW);
let services: ArchiveDependencies;
const storeOf = (storage: ObjectStorage) =>
  createAssetStore(storage, { sign: () => "", verify: () => false }, "https://gesso.example");

beforeEach(async () => {
  database = await startTestDatabase();
  clock = createManualClock(NOW);
  services = {
    ...createTestRuntime({ clock }),
    database: database.db,
    assets: storeOf(createDiskStorage(mkdtempSync(join(tmpdir(), "gesso-archive-")))),
    settings: { archiveAfterDays: 30 },
  };
});
afterEach(() => database?.stop());

const runAt = (daysAgo: number, parent?: PastRun, tenant_id = TENANT) =>
  createPastRun({ tenant_id, created_at: NOW - daysAgo * DAY }, parent);
const seed = async (...runs: PastRun[]) => {
  await insertPastRuns(database.owner, runs);
  for (const tenant of new Set(runs.map(({ tenant_id }) => tenant_id)))
    await insertPrepaidTenant(database.owner, tenant, runs);
  await indexPastRuns(database.db);
  return runs;
};
const idsOf = (runs: { run_id: string }[]) => runs.map(({ run_id }) => run_id).sort();
const left = async () => idsOf(await database.owner.query<PastRun>("test.left", "select run_id from runs"));
const archived = async () => idsOf(await queryArchive(services, { limit: 100 }));
const files = () => listKeys(services.assets.storage);
const violations = async () => (await findLedgerViolations(database.url)).filter((each) => each.violations > 0);
const countRows = async (runId: string) => {
  const tables = ["attempts", "planned_requests", "assets", "run_index", "marked_runs", "unsuccessful_runs"];
  const counts = tables.map((table) => `(select count(*) from ${table} where run_id = $1)`);
  const text = `select (${counts.join(" + ")} + (select count(*) from transfers where cause_id = $1))::int as rows`;
  return (await database.owner.query<{ rows: number }>("test.rows", text, [runId]))[0]!.rows;
};

describe("an ended run", () => {
  it("moves to a file of its day with all that belongs to it, and is found there", async () => {
    const old = runAt(60);
    const failed = createPastRun({ tenant_id: TENANT, created_at: NOW - 59 * DAY, status: "failed" });
    const young = runAt(10);
    await seed(old, failed, young);
    const before = await sumEntries(database.owner);
    expect(await countRows(old.run_id)).toBe(7);

    expect(await archiveHistory(services)).toEqual({ files: 2, lines: 2 });
    expect(await left()).toEqual([young.run_id]);
    expect([await countRows(old.run_id), await countRows(failed.run_id)]).toEqual([0, 0]);
    expect(await sumEntries(database.owner)).toEqual(before);
    expect(await violations()).toEqual([]);

    const [found, ...others] = await queryArchive(services, { run_id: old.run_id, limit: 20 });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ tenant_id: TENANT, file: expect.stringMatching(/archive\/runs\/2026-05-21\/.*gz$/) });
    expect(found!.record).toMatchObject({
      ...{ schema: 1, status: "completed", inputs: { prompt: "a harbour" }, cost: { amount: 0.04 } },
      created_at: new Date(old.created_at).toISOString().replace(".000Z", "+00:00"),
      attempts: [{ state: "succeeded", price: 40_000 }],
      requests: [{ request_index: 0, provider: "sandbox" }],
      transfers: [{ kind: "release" }, { kind: "reserve", amount: 80_000 }, { kind: "settle", amount: 40_000 }],
      assets: [{ role: "output", media_type: "image/png" }],
    });
    const ofDay = await queryArchive(services, { tenant_id: TENANT, day: "2026-05-22", limit: 20 });
    expect(idsOf(ofDay)).toEqual([failed.run_id]);
    expect(await queryArchive(services, { tenant_id: OTHER, day: "2026-05-22", limit: 20 })).toEqual([]);
    expect(await archiveHistory(services)).toEqual({ files: 0, lines: 0 });
  });

  it("stays while anything still needs it", async () => {
    const [starred, stored, listened, delivered, unknown, plain] = await seed(
      ...[60, 60, 60, 60, 60, 60].map((days) => runAt(days)),
    );
    let count = 0;
    const change = (text: string, { run_id }: PastRun) => database.owner.query(`test.${++count}`, text, [run_id]);
    await saveRunMarks(database.db, starred!, { starred: true });
    await change("update assets set deleted_at = null where run_id = $1", stored!);
    await change(
      `insert into events (run_id, event_id, tenant_id, type) select run_id, run_id, tenant_id, 'run.queued'
       from runs where run_id = $1`,
      listened!,
    );
    await change(
      `insert into webhook_deliveries (delivery_id, tenant_id, event_id, run_id, type, url, body, status, finished_at)
       select run_id, tenant_id, run_id, run_id, 'x', 'https://example.com', '{}', 'delivered', now()
       from runs where run_id = $1`,
      delivered!,
    );
    await change("update attempts set state = 'unknown', unknown_since = now() where run_id = $1", unknown!);
    await archiveHistory(services);
    expect(await left()).toEqual(idsOf([starred!, stored!, listened!, delivered!, unknown!]));
    expect(await archived()).toEqual([plain!.run_id]);
  });

  it("is not archived while it is open", async () => {
    const run = runAt(60);
    await seed(run);
    await database.owner.query("test.off", "alter table runs disable trigger all");
    await database.owner.query(
      "test.open",
      "update runs set status = 'processing', progress = 0, finished_at = null, result = null, cost = null",
    );
    expect(await archiveHistory(services)).toEqual({ files: 0, lines: 0 });
    expect(await left()).toEqual([run.run_id]);
  });

  it("stays in the current month, whatever the setting", () => {
    expect(findArchiveBorder(NOW, 1)).toEqual(new Date("2026-07-01T00:00:00Z"));
    expect(findArchiveBorder(NOW, 30)).toEqual(new Date("2026-06-20T00:00:00Z"));
  });
});

it("the setting of a tenant overrides that of the installation, in both directions", async () => {
  const third = v7();
  const [mine, theirs, own] = [runAt(60), runAt(60, undefined, OTHER), runAt(60, undefined, third)];
  await seed(mine, theirs, own);
  const set = (tenant: string, days: number | null) =>
    database.owner.query("test.days", "update tenants set archive_after_days = $2 where tenant_id = $1", [
      tenant,
      days,
    ]);
  await set(OTHER, 0);
  await set(third, 90);
  await archiveHistory(services);
  expect(await archived()).toEqual([mine.run_id]);
  services.settings.archiveAfterDays = 0;
  await set(OTHER, null);
  await set(third, 45);
  await archiveHistory(services);
  expect(await archived()).toEqual(idsOf([mine, own]));
  expect(await left()).toEqual([theirs.run_id]);
});

it("a tree across the border reads with tombstones, which go with the last run that needs them", async () => {
  const root = runAt(90);
  const child = runAt(80, root);
  const leaf = runAt(70, child);
  const young = runAt(5, child);
  const referenced = runAt(85);
  await seed(root, child, leaf, young, referenced);
  await database.owner.query("test.reference", "insert into run_references values ($1, $2, $3)", [
    ...[young.run_id, referenced.run_id, young.root_run_id],
  ]);
  await archiveHistory(services);
  expect(await archived()).toEqual(idsOf([root, child, leaf, referenced]));
  const tree = await findRunTree(database.db, TENANT, root.run_id);
  expect(tree.map(({ run_id, is_deleted, prompt }) => [run_id, is_deleted, prompt])).toEqual([
    ...[root, child].map(({ run_id }) => [run_id, true, null]),
    [young.run_id, false, "a harbour"],
    [referenced.run_id, true, null],
  ]);
  expect(tree.find(({ run_id }) => run_id === young.run_id)).toMatchObject({
    ...{ parent_run_id: child.run_id, root_run_id: root.run_id, referenced_run_ids: [referenced.run_id] },
  });
  expect(await violations()).toEqual([]);

  clock.at = NOW + 60 * DAY;
  expect(await archiveHistory(services)).toEqual({ files: 1, lines: 1 });
  expect(await left()).toEqual([]);
  expect(await archived()).toEqual(idsOf([root, child, leaf, young, referenced]));
  expect(await database.owner.query("test.tombstones", "select run_id from archived_runs")).toEqual([]);
  expect(await violations()).toEqual([]);
});

describe("a crash between the file and the deletion", () => {
  const crash = async () => {
    const crashing = { ...services, crashPoint: () => expect.unreachable("crash") };
    await expect(archiveHistory(crashing)).rejects.toThrow("crash");
  };

  it("is repeated without loss and without a second file", async () => {
    const runs = await seed(runAt(60), runAt(60), runAt(60));
    await crash();
    expect([await left(), (await files()).length]).toEqual([idsOf(runs), 1]);
    await crash();
    expect(await archiveHistory(services)).toEqual({ files: 1, lines: 3 });
    expect([await left(), await archived(), (await files()).length]).toEqual([[], idsOf(runs), 1]);
    expect(await violations()).toEqual([]);
  });

  it("replaces the file if a caller has deleted a run meanwhile: no prompt stays in the archive", async () => {
    const [deleted, other] = await seed(runAt(60), runAt(60));
    await crash();
    await tombstoneRun(database.db, TENANT, deleted!.run_id, v7());
    expect(await archiveHistory(services)).toEqual({ files: 1, lines: 2 });
    const records = await queryArchive(services, { limit: 10 });
    const prompts = new Map(records.map(({ run_id, record }) => [run_id, record.inputs]));
    expect(prompts.get(deleted!.run_id)).toEqual({});
    expect(prompts.get(other!.run_id)).toEqual({ prompt: "a harbour" });
    expect(await files()).toHaveLength(1);
  });

  it("removes nothing if the file cannot be read back", async () => {
    const runs = await seed(runAt(60));
    const { storage } = services.assets;
    const damaging = { ...storage, put: (key: string) => storage.put(key, Buffer.from("half"), "application/gzip") };
    await expect(archiveHistory({ ...services, assets: storeOf(damaging) })).rejects.toThrow("could not be read back");
    expect([await left(), await files()]).toEqual([idsOf(runs), []]);
    expect(await archiveHistory(services)).toEqual({ files: 1, lines: 1 });
  });
});

it("a process whose file another one has replaced leaves the batch to it", async () => {
  const runs = await seed(runAt(60));
  const { storage } = services.assets;
  const others: unknown[] = [];
  const overtaken: ObjectStorage = {
    ...storage,
    async put(...file) {
      await storage.put(...file);
      if (others.length === 0) others.push(await archiveHistory(services));
    },
  };
  expect(await archiveHistory({ ...services, assets: storeOf(overtaken) })).toEqual({ files: 0, lines: 0 });
  expect(others).toEqual([{ files: 1, lines: 1 }]);
  expect([await left(), await archived(), (await files()).length]).toEqual([[], idsOf(runs), 1]);
});

it("two processes at once archive every run once, and no file is deleted that has the only copy", async () => {
  const runs = await seed(...Array.from({ length: 24 }, (_, number) => runAt(60 + (number % 6))));
  const reports = await Promise.all([1, 2, 3].map(() => archiveHistory(services)));
  await archiveHistory(services);
  expect(reports.reduce((sum, { lines }) => sum + lines, 0)).toBeLessThanOrEqual(24);
  expect([await left(), await archived()]).toEqual([[], idsOf(runs)]);
  const counted = await database.owner.query("test.lines", "select sum(lines)::int as lines from archive_batches");
  expect([counted, (await files()).length]).toEqual([[{ lines: 24 }], 6]);
  expect(await violations()).toEqual([]);
});

it("usage is the same after the runs are archived, and after its sums are built again", async () => {
  const runs = await seed(runAt(60), runAt(59), runAt(3), runAt(70));
  await seedChildOf(runs[0]!);
  await database.owner.query("test.attribute", "update runs set customer = 'acme', cost_tags = '{a,b}'");
  await resetUsage(database.db, "attributed_usage");
  await indexPastRuns(database.db);
  const range = { from: "2026-01-01", to: "2026-12-31", limit: 100 };
  const sum = (...by: UsageDimension[]) => sumUsage(database.db.forTenant(TENANT), TENANT, { ...range, by });
  const usage = async () => [await sum("day"), await sum("customer", "day"), await sum("tag")];
  const before = await usage();
  expect(before.map((rows) => rows.map(({ amount }) => amount))).toEqual([
    [0.04, 0.04, 0.04, 0.04],
    [0.04, 0.04, 0.04, 0.04],
    [0.16, 0.16],
  ]);
  await archiveHistory(services);
  expect(await usage()).toEqual(before);
  await resetUsage(database.db, "daily_usage");
  await resetUsage(database.db, "attributed_usage");
  expect(await usage()).toEqual(before);
  await indexPastRuns(database.db);
  expect(await usage()).toEqual(before);
});

/** A young run without a cost, which keeps its parent as a tombstone. Usage does not count uploads. */
async function seedChildOf(parent: PastRun): Promise<void> {
  const child = runAt(2, parent);
  await insertPastRuns(database.owner, [child]);
  await database.owner.query("test.upload", "update runs set run_type = 'upload' where run_id = $1", [child.run_id]);
}

it("a transfer is deleted only with its verified file", async () => {
  const run = runAt(60);
  await seed(run);
  const erase = () => database.db.query("test.erase", "delete from transfers where cause_id = $1", [run.run_id]);
  await database.owner.query(
    "test.open",
    "insert into archive_batches (batch_id, tenant_id, kind, day, run_ids) values ($1, $2, 'runs', now(), $3)",
    [v7(), TENANT, [run.run_id]],
  );
  await expect(erase()).rejects.toThrow("transfers are never changed");
});

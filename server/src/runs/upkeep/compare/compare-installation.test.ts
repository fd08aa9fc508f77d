// The comparison after a restore, on a real database, a folder with files, and a provider with a list of jobs.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createFakeProviders } from "../../../../test/support/fake-providers.ts";
import { createPastRun, insertPastRuns, type PastRun } from "../../../../test/support/past-runs.ts";
import { createFakeProvider } from "../../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../../test/support/test-database.ts";
import type { Finding } from "../../../contract/schemas/reconciliation.ts";
import { createAssetStore } from "../../../files/storage/asset-store.ts";
import { createDiskStorage } from "../../../files/storage/disk-storage.ts";
import { assetKey } from "../../../files/storage/object-storage.ts";
import type { ListedJob, Provider } from "../../../providers/provider.ts";
import { systemClock } from "../../../runtime/system-clock.ts";
import { compareInstallation } from "./compare-installation.ts";

const MINUTE = 60_000;
const since = new Date(Date.now() - 10 * MINUTE);
const tenant_id = v7();
let database: TestDatabase;
let folder = "";
let jobs: ListedJob[] = [];
let warnings: object[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(tmpdir(), "gesso-compare-"));
  [jobs, warnings] = [[], []];
  await database.owner.query("clean", "truncate runs, attempts, assets, transfers, planned_requests cascade");
});

const storage = () => createDiskStorage(folder);
const keyOf = (run_id: string, content: string) =>
  assetKey(tenant_id, run_id, createHash("sha256").update(content).digest("hex"));
const store = async (run_id: string, content = "pixels") => {
  await storage().put(keyOf(run_id, content), Buffer.from(content), "image/png");
  return keyOf(run_id, content);
};
const insertAsset = (run_id: string, content = "pixels") =>
  database.owner.query(
    "test.asset",
    `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes,
       sha256)
     values ($1, $2, $3, 'source', $4, 'image/png', 16, 16, 6, 'x')`,
    [v7({ msecs: Date.now() - 4 * MINUTE }), run_id, tenant_id, keyOf(run_id, content)],
  );
const insertRuns = async (count: number): Promise<PastRun[]> => {
  const runs = Array.from({ length: count }, () => createPastRun({ tenant_id, created_at: Date.now() - 5 * MINUTE }));
  await insertPastRuns(database.owner, runs);
  return runs;
};

const listing: Provider = {
  ...createFakeProvider("sandbox").provider,
  listJobs: async ({ next }) => {
    const from = Number(next ?? 0);
    return { jobs: jobs.slice(from, from + 2), next: from + 2 < jobs.length ? String(from + 2) : undefined };
  },
};
type Options = { limit?: number; after?: string; max_seconds?: number; providers?: Provider[]; now?: number };
const compare = ({ providers = [listing], now, limit = 100, max_seconds = 30, after }: Options = {}) =>
  compareInstallation(
    {
      database: database.db,
      assets: createAssetStore(storage(), { sign: () => "", verify: () => false }, "https://gesso.example"),
      providers: createFakeProviders(...providers.map((provider) => ({ provider, env: {} }))),
      // Files that are a few seconds old are not compared.
      clock: { ...systemClock, now: () => now ?? Date.now() + MINUTE },
      log: { info: () => {}, warn: (fields) => void warnings.push(fields), error: () => {} },
      deadlineSeconds: 600,
    },
    { since: since.toISOString(), limit, max_seconds, after },
  );
const namesOf = (findings: Finding[]) => findings.map(({ finding, run_id }) => [finding, run_id]);
const stateOf = async (of: string, options: Options) =>
  (await compare(options)).comparisons.find((each) => each.of === of)?.state;

it("finds nothing where files, jobs and charges are what the database says", async () => {
  const [run] = await insertRuns(1);
  await store(run!.run_id);
  await insertAsset(run!.run_id);
  jobs = [
    { ticket: { job: "1" }, key: `${run!.run_id}.0.1` },
    { ticket: { job: "2" }, key: "of another program" },
  ];
  expect(await compare()).toEqual({
    ...{ since: since.toISOString(), data: [], has_more: false },
    comparisons: [
      { of: "files", provider: null, state: "complete", compared: 1 },
      { of: "assets", provider: null, state: "complete", compared: 1 },
      { of: "charges", provider: null, state: "complete", compared: 1 },
      { of: "jobs", provider: "sandbox", state: "complete", compared: 1 },
    ],
  });
});

it("names files of unknown runs, files without a row and rows without a file, with key and size", async () => {
  const [known, missing] = await insertRuns(2);
  const lost = v7();
  const lostKey = await store(lost, "lost");
  const unreferenced = await store(known!.run_id, "later");
  await insertAsset(missing!.run_id, "deleted");
  const { data } = await compare();
  const about = { tenant_id, job: null, cost: null };
  const expected = [
    {
      ...{ ...about, run_id: known!.run_id, finding: "file_without_asset", run_status: "completed" },
      file: { storage_key: unreferenced, size_bytes: 5, stored_at: expect.any(String) },
    },
    {
      ...{ ...about, run_id: missing!.run_id, finding: "asset_without_file", run_status: "completed" },
      file: { storage_key: keyOf(missing!.run_id, "deleted"), size_bytes: 6, stored_at: null },
    },
    {
      ...{ ...about, run_id: lost, finding: "file_without_run", run_status: null },
      file: { storage_key: lostKey, size_bytes: 4, stored_at: expect.any(String) },
    },
  ];
  expect(data).toEqual(expected.sort((one, other) => one.run_id.localeCompare(other.run_id)));
});

it("leaves out files that were stored a moment ago, because their row may not be inserted yet", async () => {
  await store(v7(), "lost");
  expect((await compare({ now: Date.now() })).data).toEqual([]);
});

it("leaves out files that are older than the period", async () => {
  const key = await store(v7({ msecs: since.getTime() - MINUTE }), "old");
  const before = since.getTime() / 1000 - 60;
  utimesSync(join(folder, "objects", key), before, before);
  expect((await compare()).data).toEqual([]);
});

it("names jobs of unknown runs, jobs without an attempt, and second jobs of an attempt", async () => {
  const [run] = await insertRuns(1);
  const { run_id } = run!;
  await database.owner.query("test.ticket", `update attempts set ticket = '{"job": "1"}' where run_id = $1`, [run_id]);
  const lost = v7();
  jobs = [
    { ticket: { job: "1" }, key: `${run_id}.0.1` },
    { ticket: { job: "2" }, key: `${run_id}.0.1` },
    { ticket: { job: "3" }, key: `${run_id}.0.2`, created_at: new Date().toISOString() },
    { ticket: { job: "0" }, key: `${v7()}.0.1`, created_at: "2026-01-31T00:00:00.000Z" },
    { ticket: { job: "4" }, key: `${lost}.0.1` },
  ];
  const { data } = await compare();
  expect(namesOf(data)).toEqual(
    [
      ["job_twice", run_id],
      ["job_without_attempt", run_id],
      ["job_without_run", lost],
    ].sort((one, other) => one[1]!.localeCompare(other[1]!) || one[0]!.localeCompare(other[0]!)),
  );
  expect(data.find(({ finding }) => finding === "job_without_attempt")).toMatchObject({
    ...{ tenant_id, run_status: "completed" },
    job: { provider: "sandbox", ticket: { job: "3" }, idempotency_key: `${run_id}.0.2` },
  });
  expect(data.find(({ run_id: id }) => id === lost)).toMatchObject({ tenant_id: null, run_status: null });
});

it("names runs that the ledger has charged less or more than they cost", async () => {
  const [less, more] = await insertRuns(2);
  await database.owner.query("test.empty", "truncate transfers");
  await database.owner.query(
    "test.settle",
    `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     values ($1, 'settle', $2, 'reserved', 'spent', 50000)`,
    [more!.run_id, tenant_id],
  );
  const found = new Map((await compare()).data.map(({ run_id, finding, cost }) => [run_id, { finding, cost }]));
  expect(found.get(less!.run_id)).toEqual({ finding: "run_unpaid", cost: { expected: 0.04, charged: 0 } });
  expect(found.get(more!.run_id)).toEqual({ finding: "run_overcharged", cost: { expected: 0.04, charged: 0.05 } });
});

it("says which providers have no list of jobs, and which do not respond", async () => {
  const { provider: without } = createFakeProvider("without");
  const silent = { ...listing, id: "silent", listJobs: () => Promise.reject(new Error("no connection")) };
  const { comparisons } = await compare({ providers: [without, silent] });
  expect(comparisons.filter(({ of }) => of === "jobs")).toEqual([
    { of: "jobs", provider: "without", state: "unsupported", compared: 0 },
    { of: "jobs", provider: "silent", state: "failed", compared: 0 },
  ]);
  expect(warnings).toMatchObject([{ of: "jobs", provider: "silent", err: { message: "no connection" } }]);
});

it("says what it could not compare in time", async () => {
  await store(v7(), "lost");
  for (const of of ["files", "assets", "charges", "jobs"])
    expect([of, await stateOf(of, { max_seconds: 0 })]).toEqual([of, "incomplete"]);
});

it("returns the findings of whole runs, page by page", async () => {
  const lost = [1, 2, 3].map((minute) => v7({ msecs: Date.now() - (9 - minute) * MINUTE }));
  for (const run_id of lost) for (const content of ["one", "two"]) await store(run_id, content);
  const first = await compare({ limit: 1 });
  expect([first.data.map(({ run_id }) => run_id), first.has_more]).toEqual([[lost[0], lost[0]], true]);
  const second = await compare({ limit: 10, after: lost[0]! });
  expect([second.data.map(({ run_id }) => run_id), second.has_more]).toEqual([
    [lost[1], lost[1], lost[2], lost[2]],
    false,
  ]);
});

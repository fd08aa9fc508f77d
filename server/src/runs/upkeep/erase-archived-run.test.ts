// The deletion of an archived run on a real database and a real disk: what is erased, what stays, and what a crash or
// another deletion in the same file leaves.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeProviders } from "../../../test/support/fake-providers.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import {
  createPastRun,
  indexPastRuns,
  insertPastRuns,
  insertPrepaidTenant,
  listKeys,
  type PastRun,
} from "../../../test/support/past-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime, TEST_RUN_SETTINGS } from "../../../test/support/test-runtime.ts";
import type { RequestContext } from "../../access/request-context.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { findLedgerViolations } from "../../db/money/ledger-check.ts";
import { createAssetStore } from "../../files/storage/asset-store.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import { deleteRun } from "../../operations/runs/delete.ts";
import { archiveHistory } from "./archive.ts";
import { readArchiveLines } from "./archive-file.ts";
import { eraseArchivedRun, toRunRow } from "./erase-archived-run.ts";
import { processOutboxLane } from "./process-outbox.ts";
import { queryArchive } from "./query-archive.ts";

const NOW = Date.UTC(2026, 6, 20, 12);
const DAY = 24 * 60 * 60 * 1000;
const SECRET = "a secret harbour";
const TENANT = v7();

const compose = (database: TestDatabase) => {
  const storage = createDiskStorage(mkdtempSync(join(tmpdir(), "gesso-erase-")));
  const runtime = createTestRuntime({ clock: createManualClock(NOW) });
  return {
    ...runtime,
    database: database.db,
    assets: createAssetStore(storage, { sign: () => "", verify: () => false }, "https://gesso.example"),
    providers: createFakeProviders(),
    settings: { ...TEST_RUN_SETTINGS, archiveAfterDays: 30 },
  };
};

let database: TestDatabase;
let services: ReturnType<typeof compose>;
let [secret, other] = [] as unknown as [PastRun, PastRun];
/** Two runs of one day in one file. */
beforeEach(async () => {
  database = await startTestDatabase();
  services = compose(database);
  const created_at = NOW - 60 * DAY;
  secret = createPastRun({ tenant_id: TENANT, created_at, prompt: SECRET });
  other = createPastRun({ tenant_id: TENANT, created_at: created_at + 1, prompt: "a bridge" });
  await insertPastRuns(database.owner, [secret, other]);
  const marks = "update attempts set request = $1, fault = $2 where run_id = $3";
  const fault = { code: "provider_error", message: "x", details: { text: SECRET } };
  await database.owner.query("test.marks", marks, [{ body: { prompt: SECRET } }, fault, secret.run_id]);
  const output = "update planned_requests set output = $1 where run_id = $2";
  await database.owner.query("test.output", output, [{ files: [], data: { text: SECRET } }, secret.run_id]);
  await insertPrepaidTenant(database.owner, TENANT, [secret, other]);
  await indexPastRuns(database.db);
  await archiveHistory(services);
});
afterEach(() => database?.stop());

const files = () => listKeys(services.assets.storage);
const linesOf = async () => {
  const lines = [];
  for (const key of await files()) lines.push(...(await readArchiveLines(services.assets.storage, key))!);
  return lines;
};
const recordOf = async (runId: string) =>
  (await queryArchive(services, { run_id: runId, limit: 9 })).map(({ record }) => record);
const erase = (run_id = secret.run_id, tenant_id = TENANT) => eraseArchivedRun(services, { tenant_id, run_id });
const emptyOutbox = async () => {
  while ((await processOutboxLane(services, { exceptCancelsAt: [] })) > 0);
};
const violations = async () => (await findLedgerViolations(database.url)).filter((each) => each.violations > 0);

describe("a deleted run of the archive", () => {
  it("has no text of its caller in any file, and keeps its ids, cost and transfers", async () => {
    const [before] = await recordOf(secret.run_id);
    expect(JSON.stringify(before).split(SECRET).length - 1).toBe(4);
    expect(await erase()).toEqual({ state: "erased", record: before });
    await emptyOutbox();
    expect((await linesOf()).join()).not.toContain(SECRET);
    const kept = ({ run_id, tenant_id, status, cost, transfers, root_run_id, assets, created_at }: JsonObject) => ({
      ...{ run_id, tenant_id, status, cost, transfers, root_run_id, assets, created_at },
    });
    const [after] = await recordOf(secret.run_id);
    expect(kept(after!)).toEqual(kept(before!));
    expect(after).toMatchObject({ inputs: {}, plan: [], deleted_at: new Date(NOW).toISOString() });
    expect(after!.attempts).toMatchObject([{ request: null, fault: { code: "provider_error", details: {} } }]);
    expect(await violations()).toEqual([]);
  });

  it("leaves the lines of other runs as they were, in one file that the database names with its digest", async () => {
    const before = (await linesOf()).find((line) => line.includes(other.run_id));
    await erase();
    await emptyOutbox();
    const [key, ...rest] = await files();
    expect([rest, await linesOf()]).toEqual([[], expect.arrayContaining([before])]);
    const row =
      "select storage_key, stale_keys, storage_key like '%' || sha256 || '%' as is_named from archive_batches";
    expect(await database.db.query("test.batch", row)).toEqual([{ storage_key: key, stale_keys: [], is_named: true }]);
  });

  it("cannot be deleted a second time", async () => {
    await erase();
    const keys = await files();
    expect(await erase()).toEqual({ state: "was_erased" });
    expect(await files()).toEqual(keys);
  });

  it("can be rendered as the run that it was", async () => {
    const erased = await erase();
    expect(toRunRow((erased as { record: JsonObject }).record)).toMatchObject({
      ...{ run_id: secret.run_id, status: "completed", inputs: { prompt: SECRET }, progress: 1, deleted_at: null },
      created_at: new Date(secret.created_at),
    });
  });
});

it("runs.delete erases an archived run, returns it as it was, and then reports that it was deleted", async () => {
  const context = { database: services.database.forTenant(TENANT), caller: { tenant_id: TENANT } } as RequestContext;
  const { database: systemDatabase, ...given } = services;
  const remove = (run_id: string) => deleteRun.handle({ run_id }, context, { ...given, systemDatabase });
  expect(await remove(secret.run_id)).toMatchObject({ run_id: secret.run_id, inputs: { prompt: SECRET } });
  await emptyOutbox();
  expect((await linesOf()).join()).not.toContain(SECRET);
  await expect(remove(secret.run_id)).rejects.toMatchObject({ code: "run_deleted" });
  await expect(remove(v7())).rejects.toMatchObject({ code: "run_not_found" });
});

it("runs of one file that are deleted at the same time are all erased", async () => {
  const erased = await Promise.all([erase(secret.run_id), erase(other.run_id)]);
  expect(erased.map((each) => each?.state)).toEqual(["erased", "erased"]);
  await emptyOutbox();
  expect(await files()).toHaveLength(1);
  const text = (await linesOf()).join();
  expect([text.includes(SECRET), text.includes("a bridge")]).toEqual([false, false]);
});

it("a deletion that was interrupted after its file was written is repeated, and leaves one file", async () => {
  const { put } = services.assets.storage;
  const interrupted = {
    ...services,
    assets: {
      ...services.assets,
      storage: {
        ...services.assets.storage,
        put: async (...given: Parameters<typeof put>) => {
          await put(...given);
          throw new Error("the process died");
        },
      },
    },
  };
  await expect(eraseArchivedRun(interrupted, { tenant_id: TENANT, run_id: secret.run_id })).rejects.toThrow("died");
  expect(await files()).toHaveLength(2);
  expect(await recordOf(secret.run_id)).toMatchObject([{ inputs: { prompt: SECRET } }]);
  expect(await erase()).toMatchObject({ state: "erased" });
  await emptyOutbox();
  expect(await files()).toHaveLength(1);
  expect((await linesOf()).join()).not.toContain(SECRET);
});

it("a run of another tenant, and one that the archive does not have, are not erased", async () => {
  expect([await erase(secret.run_id, v7()), await erase(v7({ msecs: secret.created_at }))]).toEqual([
    undefined,
    undefined,
  ]);
  expect((await linesOf()).join()).toContain(SECRET);
});

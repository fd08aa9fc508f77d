// The audit log after its first days were archived: the chain still verifies, and tampering is still found.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { listKeys } from "../../../test/support/past-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { createTestRuntime } from "../../../test/support/test-runtime.ts";
import { type AuditSeal, createAuditSeal } from "../../db/access/audit-seal.ts";
import { createKeyDerivation } from "../../db/access/derive-keys.ts";
import { createAssetStore } from "../../files/storage/asset-store.ts";
import { createDiskStorage } from "../../files/storage/disk-storage.ts";
import { archiveHistory } from "./archive.ts";
import { readArchiveFile } from "./archive-file.ts";

const DAY = 24 * 60 * 60 * 1000;
const TENANT = "00000000-0000-7000-8000-000000000001";
const SECRET = { GESSO_SECRET: "a secret which is long enough to be one", GESSO_ACCEPTED_SECRETS: [] };

let database: TestDatabase;
let seal: AuditSeal;
let storage: ReturnType<typeof createDiskStorage>;
const clock = createManualClock();
beforeEach(async () => {
  database = await startTestDatabase();
  storage = createDiskStorage(mkdtempSync(join(tmpdir(), "gesso-audit-archive-")));
  // Entries have the time of the database.
  clock.at = Date.now() + 70 * DAY;
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const keys = createKeyDerivation(SECRET)("audit");
  seal = createAuditSeal({ database: database.db, keys, clock, log });
});
afterEach(() => database?.stop());

const addEntries = (count: number) =>
  database.db.query(
    "test.entries",
    `insert into audit_log (tenant_id, user_id, action, subject)
     select $1, 'ann', 'keys.create', n::text from generate_series(1, $2::int) as n`,
    [TENANT, count],
  );
const archive = () =>
  archiveHistory({
    ...createTestRuntime({ clock }),
    database: database.db,
    assets: createAssetStore(storage, { sign: () => "", verify: () => false }, "https://gesso.example"),
    settings: { archiveAfterDays: 30 },
  });
const entries = () =>
  database.owner.query<{ entry: number; action: string }>("test.log", "select entry, action from audit_log order by 1");

it("is archived from its start, once a checkpoint covers it, and verifies afterwards", async () => {
  await addEntries(3);
  expect(await archive()).toEqual({ files: 0, lines: 0 });
  while (await seal.sealNewEntries());
  expect(await archive()).toEqual({ files: 1, lines: 3 });
  expect(await entries()).toEqual([{ entry: 4, action: "audit_log.archive" }]);
  expect(await seal.check()).toEqual([]);
  const [key] = await listKeys(storage, `t/${TENANT}/archive/audit/`);
  const lines = await readArchiveFile(storage, key!);
  expect(lines).toMatchObject([1, 2, 3].map((entry) => ({ schema: 1, entry, action: "keys.create" })));

  // An entry that is only about the archive is not archived by itself.
  while (await seal.sealNewEntries());
  expect(await archive()).toEqual({ files: 0, lines: 0 });
  await addEntries(2);
  while (await seal.sealNewEntries());
  expect(await archive()).toEqual({ files: 1, lines: 3 });
  expect(await entries()).toEqual([{ entry: 7, action: "audit_log.archive" }]);
  expect(await seal.check()).toEqual([]);
});

it("is not changed unnoticed afterwards", async () => {
  await addEntries(3);
  while (await seal.sealNewEntries());
  await archive();
  await addEntries(3);
  while (await seal.sealNewEntries());
  await database.owner.query("test.off", "alter table audit_log disable trigger all");
  await database.owner.query("test.cut", "delete from audit_log where entry = 5");
  expect((await seal.check()).map(({ reason }) => reason)).toContain("entry_changed");
  await database.owner.query("test.cut_all", "delete from audit_log where entry < 7");
  expect((await seal.check()).map(({ reason }) => reason)).toContain("entry_missing");
});

it("cannot be deleted by an open batch", async () => {
  await addEntries(2);
  await database.db.query(
    "test.batch",
    `insert into archive_batches (batch_id, tenant_id, kind, day, first_entry, last_entry)
     values ($1, $2, 'audit', now(), 1, 2)`,
    [v7(), TENANT],
  );
  await expect(
    database.owner.query("test.delete", "delete from audit_log where tenant_id = $1", [TENANT]),
  ).rejects.toThrow("never changed");
});

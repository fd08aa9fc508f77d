// Moves ended runs and audit entries to the archive: one file per tenant, day and batch. The batch is recorded, the
// file is written and read back, and only then are the rows removed, in one transaction. A turn that was interrupted is
// repeated with the same rows and replaces its file, so nothing is lost and no row is in two files.

import {
  type ArchiveBatch,
  deleteArchiveBatch,
  hasArchiveKey,
  listArchiveLines,
  listOpenArchiveBatches,
  listTenantsToArchive,
  openAuditBatch,
  openRunBatch,
  removeArchivedRows,
  saveArchiveKey,
} from "../../db/archive/archive-batches.ts";
import type { Database } from "../../db/connect.ts";
import { FIRST_ID } from "../../db/delete-batches.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";
import { archiveKey, buildArchiveFile, isStoredIntact } from "./archive-file.ts";

/** Runs that one statement looks at, and at most as many lines of a file. */
const RUN_BATCH = 500;
const AUDIT_BATCH = 5000;
/** Rows that change while they are archived are read again this often; then the next turn continues. */
const ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;

export type ArchiveDependencies = Pick<Runtime, "clock" | "ids" | "log" | "crashPoint"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
  settings: Pick<RunSettings, "archiveAfterDays">;
};
export type ArchiveReport = { files: number; lines: number };

/** One turn over all tenants. Returns what it archived. */
export async function archiveHistory(services: ArchiveDependencies, signal?: AbortSignal): Promise<ArchiveReport> {
  const { database, clock, settings, log } = services;
  const report: ArchiveReport = { files: 0, lines: 0 };
  const finish = async (batch: ArchiveBatch) => {
    signal?.throwIfAborted();
    const lines = await finishBatch(services, batch);
    report.files += lines > 0 ? 1 : 0;
    report.lines += lines;
    return lines > 0;
  };
  for (const batch of await listOpenArchiveBatches(database)) await finish(batch);
  for (const { tenant_id, days } of await listTenantsToArchive(database, settings.archiveAfterDays)) {
    const before = findArchiveBorder(clock.now(), days);
    await archiveRuns(services, { tenant_id, before }, finish);
    await archiveAuditLog(services, { tenant_id, before }, finish);
  }
  if (report.files > 0) log.info(report, "history archived");
  return report;
}

/**
 * The start of a day (UTC). Runs of the current month stay: a spending limit that is set later counts their cost.
 */
export function findArchiveBorder(now: number, days: number): Date {
  const today = new Date(now);
  const month = Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  const day = Math.floor((now - days * DAY_MS) / DAY_MS) * DAY_MS;
  return new Date(Math.min(month, day));
}

type TenantHistory = { tenant_id: string; before: Date };
type FinishBatch = (batch: ArchiveBatch) => Promise<boolean>;

async function archiveRuns(
  { database, ids }: ArchiveDependencies,
  history: TenantHistory,
  finish: FinishBatch,
): Promise<void> {
  let after: string | null = FIRST_ID;
  while (after !== null) {
    const { batch, next } = await openRunBatch(database, { ...history, batch_id: ids.next(), after, limit: RUN_BATCH });
    if (batch && !(await finish(batch))) return;
    after = next;
  }
}

async function archiveAuditLog(
  { database, ids }: ArchiveDependencies,
  history: TenantHistory,
  finish: FinishBatch,
): Promise<void> {
  for (;;) {
    const batch = await openAuditBatch(database, { ...history, batch_id: ids.next(), limit: AUDIT_BATCH });
    if (!batch || !(await finish(batch))) return;
  }
}

/**
 * Returns the number of archived lines; 0 if another process has archived them or is doing so, or if they changed again
 * and again.
 */
async function finishBatch(services: ArchiveDependencies, batch: ArchiveBatch): Promise<number> {
  const { database, crashPoint, ids, log } = services;
  const { storage } = services.assets;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const lines = await listArchiveLines(database, batch);
    if (lines.length === 0) {
      await storage.delete(await deleteArchiveBatch(database, batch.batch_id));
      return 0;
    }
    const { sha256, bytes } = buildArchiveFile(lines);
    const storage_key = archiveKey(batch, { sha256, token: ids.next() });
    const staleKeys = await saveArchiveKey(database, batch.batch_id, storage_key);
    if (!staleKeys) return 0;
    await storage.delete(staleKeys);
    await storage.put(storage_key, bytes, "application/gzip");
    if (!(await isStoredIntact(storage, storage_key, sha256))) {
      await storage.delete([storage_key]);
      if (!(await hasArchiveKey(database, batch.batch_id, storage_key))) return 0;
      log.error({ key: storage_key }, "a file of the archive could not be read back; its rows stay in the database");
      // The next turn writes another one.
      throw new Error(`the archive file ${storage_key} could not be read back`);
    }
    crashPoint("archive_written");
    if (await removeArchivedRows(database, batch, { storage_key, sha256, size_bytes: bytes.byteLength }))
      return lines.length;
    await storage.delete([storage_key]);
  }
  log.warn({ batch_id: batch.batch_id, tenant_id: batch.tenant_id }, "rows changed while they were archived");
  return 0;
}

// Finds archived runs in their files, by ID, tenant or day.

import type { JsonObject } from "../../contract/schemas/run.ts";
import { type ArchiveFilter, listArchiveFiles } from "../../db/archive/archive-files.ts";
import type { Database } from "../../db/connect.ts";
import { Fault } from "../../faults/faults.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import { readArchiveFile } from "./archive-file.ts";

/** Where the files of the archive are. */
export type ArchiveReader = { assets: Pick<AssetStore, "storage"> };

export type ArchivedRecord = { run_id: string; tenant_id: string; file: string; record: JsonObject };

/**
 * The first `limit` runs after `after`, in the order of their IDs. The days of two files can overlap, so a file is read
 * unless all its runs come after those that were found.
 */
export async function queryArchive(
  { database, assets }: ArchiveReader & { database: Database },
  { limit, ...filter }: ArchiveFilter & { limit: number },
): Promise<ArchivedRecord[]> {
  let found: ArchivedRecord[] = [];
  for await (const { storage_key, first_run_id } of listArchiveFiles(database, filter)) {
    if (found.length === limit && found.at(-1)!.run_id < first_run_id) break;
    const lines = await readArchiveFile(assets.storage, storage_key);
    if (!lines) throw new Fault("storage_failed", {}, { cause: new Error(`${storage_key} is missing`) });
    const matching = lines.map((record) => toRecord(record, storage_key)).filter(matches(filter));
    found = [...found, ...matching].sort(byRunId).slice(0, limit);
  }
  return found;
}

const toRecord = (record: JsonObject, file: string): ArchivedRecord => ({
  run_id: String(record.run_id),
  tenant_id: String(record.tenant_id),
  file,
  record,
});

const matches =
  ({ run_id, after }: ArchiveFilter) =>
  (each: ArchivedRecord) =>
    (run_id === undefined || each.run_id === run_id) && (after === undefined || each.run_id > after);

const byRunId = (one: ArchivedRecord, other: ArchivedRecord) => (one.run_id < other.run_id ? -1 : 1);

// Erases an archived run: its line in the archive keeps what a tombstone has, such as ids, lineage, status, cost and
// transfers. The file is written again without its texts, read back, and only then takes the place of the old one.

import type { JsonObject } from "../../contract/schemas/run.ts";
import {
  type ArchiveFileOfRun,
  announceArchiveKey,
  findArchiveFilesOfRun,
  replaceArchiveFile,
} from "../../db/archive/archive-files.ts";
import type { Database } from "../../db/connect.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault } from "../../faults/faults.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { Runtime } from "../core/runtime.ts";
import { archiveKey, buildArchiveFile, isStoredIntact, readArchiveLines } from "./archive-file.ts";

/** Another process that erases a run of the same file is met this often; then the caller repeats the deletion. */
const ATTEMPTS = 5;

export type EraseDependencies = Pick<Runtime, "clock" | "ids"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
};
type ArchivedRun = { tenant_id: string; run_id: string };

/** `record`: the line as it was. `was_erased`: the run was deleted before. */
type ErasedRun = { state: "erased"; record: JsonObject } | { state: "was_erased" };

/** Undefined if the archive does not have the run. */
export async function eraseArchivedRun(services: EraseDependencies, run: ArchivedRun): Promise<ErasedRun | undefined> {
  let erased: ErasedRun | undefined;
  for (const file of await findArchiveFilesOfRun(services.database, run)) {
    const found = await eraseInFile(services, run, file);
    if (found && erased?.state !== "erased") erased = found;
  }
  return erased;
}

async function eraseInFile(
  services: EraseDependencies,
  run: ArchivedRun,
  given: ArchiveFileOfRun,
): Promise<ErasedRun | undefined> {
  const { database, assets, ids } = services;
  let file: ArchiveFileOfRun | undefined = given;
  for (let attempt = 1; file && attempt <= ATTEMPTS; attempt++) {
    const lines = await readArchiveLines(assets.storage, file.storage_key);
    const index = lines?.findIndex((line) => (JSON.parse(line) as JsonObject).run_id === run.run_id) ?? -1;
    if (!lines || index < 0) return undefined;
    const record: JsonObject = JSON.parse(lines[index]!);
    if (record.deleted_at !== null) return { state: "was_erased" };
    // The lines of other runs stay as they are, byte for byte.
    const erased = JSON.stringify(eraseTexts(record, services.clock.now()));
    const { sha256, bytes } = buildArchiveFile(lines.with(index, erased));
    const newKey = archiveKey({ tenant_id: run.tenant_id, kind: "runs", day: file.day }, { sha256, token: ids.next() });
    if (await announceArchiveKey(database, file, newKey)) {
      await assets.storage.put(newKey, bytes, "application/gzip");
      if (!(await isStoredIntact(assets.storage, newKey, sha256)))
        throw new Fault("storage_failed", {}, { cause: `the archive file ${newKey} could not be read back` });
      const stored = { storage_key: newKey, sha256, size_bytes: bytes.byteLength, outbox_id: ids.next() };
      if (await replaceArchiveFile(database, file, stored)) return { state: "erased", record };
      await assets.storage.delete([newKey]);
    }
    const files = await findArchiveFilesOfRun(database, run);
    file = files.find(({ batch_id }) => batch_id === given.batch_id);
  }
  throw new Fault("conflict");
}

const withoutDetails = (fault: unknown) => (fault === null ? null : { ...(fault as JsonObject), details: {} });
const listOf = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]) : []);

/** As the tombstone of a run that is not archived: what the caller or the provider wrote is cleared. */
const eraseTexts = (record: JsonObject, now: number): JsonObject => ({
  ...record,
  ...{ inputs: {}, given_fields: null, plan: [], metadata: {}, webhook_url: null, warnings: [], tags: [] },
  result: record.result === null ? null : { outputs: [] },
  error: withoutDetails(record.error),
  requests: listOf(record.requests).map((request) => ({ ...request, output: null })),
  attempts: listOf(record.attempts).map((attempt) => ({
    ...attempt,
    request: null,
    fault: withoutDetails(attempt.fault),
  })),
  deleted_at: new Date(now).toISOString(),
});

const DATES = ["created_at", "started_at", "finished_at", "expires_at", "deleted_at"] as const;

/** The line of an archived run as the row that it was. */
export function toRunRow(record: JsonObject): RunRow {
  const dates = Object.fromEntries(
    DATES.map((name) => [name, typeof record[name] === "string" ? new Date(record[name]) : null]),
  );
  return {
    ...record,
    ...dates,
    ...{ phase: null, cancel_requested_at: null, updated_at: dates.finished_at },
    progress: record.status === "completed" ? 1 : 0,
  } as unknown as RunRow;
}

// The files of archived runs, for queries, and the replacement of a file by one from which the texts of a run were
// erased. Every file names the first and the last of its runs.
import type { Database } from "../connect.ts";
import { FIRST_ID } from "../delete-batches.ts";
import { statement } from "../statement.ts";

export type ArchiveFilter = {
  run_id?: string | undefined;
  tenant_id?: string | undefined;
  day?: string | undefined;
  after?: string | undefined;
};
type ArchiveFileRow = { storage_key: string; first_run_id: string };

const LIST = statement(
  "archive.list_files",
  `select storage_key, first_run_id from archive_batches
   where state = 'archived' and kind = 'runs' and first_run_id > :from
     and (:tenant_id?::uuid is null or tenant_id = :tenant_id?::uuid)
     and (:day?::date is null or day = :day?::date)
     and (:run_id?::uuid is null or (first_run_id <= :run_id?::uuid and last_run_id >= :run_id?::uuid))
     and (:after?::uuid is null or last_run_id > :after?::uuid)
   order by first_run_id limit :limit`,
).columns<ArchiveFileRow>();

const PAGE = 100;

/** In the order of their first run. */
export async function* listArchiveFiles(db: Database, filter: ArchiveFilter): AsyncGenerator<ArchiveFileRow> {
  for (let from = FIRST_ID; ; ) {
    const { run_id, tenant_id, day, after } = filter;
    const rows = await db.execute(LIST, { from, run_id, tenant_id, day, after, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
    from = rows.at(-1)!.first_run_id;
  }
}

export type ArchiveFileOfRun = { batch_id: string; storage_key: string; day: string };

const FIND = statement(
  "archive.find_files_of_run",
  `select batch_id, storage_key, to_char(day, 'YYYY-MM-DD') as day from archive_batches
   where state = 'archived' and kind = 'runs' and tenant_id = :tenant_id
     and first_run_id <= :run_id::uuid and last_run_id >= :run_id::uuid
   order by first_run_id`,
).columns<ArchiveFileOfRun>();

/** The files that may have a line of the run: after a restore of the database, more than one can. */
export async function findArchiveFilesOfRun(
  db: Database,
  run: { tenant_id: string; run_id: string },
): Promise<ArchiveFileOfRun[]> {
  return db.execute(FIND, run);
}

const ANNOUNCE = statement(
  "archive.announce_key",
  `update archive_batches set stale_keys = stale_keys || :new_key::text
   where batch_id = :batch_id and state = 'archived' and storage_key = :storage_key
   returning batch_id`,
);

/**
 * Before the new file is written, so a crash leaves no file that nothing knows. False if another process has replaced
 * the file meanwhile.
 */
export async function announceArchiveKey(
  db: Database,
  { batch_id, storage_key }: ArchiveFileOfRun,
  newKey: string,
): Promise<boolean> {
  return (await db.execute(ANNOUNCE, { batch_id, storage_key, new_key: newKey })).length > 0;
}

const REPLACE = statement(
  "archive.replace_file",
  `with known as (
     select stale_keys from archive_batches
     where batch_id = :batch_id and state = 'archived' and storage_key = :storage_key for update
   ), replaced as (
     update archive_batches set storage_key = :new_key, sha256 = :sha256, size_bytes = :size_bytes, stale_keys = '{}'
     where batch_id = :batch_id and exists (select from known)
     returning batch_id
   ), work as (
     insert into outbox (outbox_id, kind, payload)
     select :outbox_id, 'delete_files',
       jsonb_build_object('keys', to_jsonb(array_remove(stale_keys || :storage_key::text, :new_key::text)))
     from known
   )
   select batch_id from replaced`,
);

/**
 * Makes the new file part of the archive, and deletes the old one and those of interrupted replacements through the
 * outbox. False if another process has replaced the file meanwhile.
 */
export async function replaceArchiveFile(
  db: Database,
  { batch_id, storage_key }: ArchiveFileOfRun,
  file: { storage_key: string; sha256: string; size_bytes: number; outbox_id: string },
): Promise<boolean> {
  const { storage_key: new_key, ...rest } = file;
  return (await db.execute(REPLACE, { batch_id, storage_key, new_key, ...rest })).length > 0;
}

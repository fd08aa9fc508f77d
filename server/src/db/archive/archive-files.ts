// The files of archived runs, for queries. Every file names the first and the last of its runs.
import type { Database } from "../connect.ts";
import { FIRST_ID } from "../delete-batches.ts";
import { statement } from "../statement.ts";

export type ArchiveFilter = {
  run_id?: string | undefined;
  tenant_id?: string | undefined;
  day?: string | undefined;
  after?: string | undefined;
};
export type ArchiveFileRow = { storage_key: string; first_run_id: string };

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

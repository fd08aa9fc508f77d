// Batches of the archive: which ended runs and audit entries are due, what their lines are, and the removal of the rows
// after their file was verified. A row of `archive_batches` exists before its file, so a crash leaves nothing unknown.
import { IS_UNKNOWN } from "../admin/unknown-outcomes.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type ArchiveBatch = {
  batch_id: string;
  tenant_id: string;
  kind: "runs" | "audit";
  day: string;
};

const BATCH_COLUMNS = "batch_id, tenant_id, kind, to_char(day, 'YYYY-MM-DD') as day";
type BatchColumns = Pick<ArchiveBatch, "kind" | "day">;

const LIST_TENANTS = statement(
  "archive.list_tenants",
  `select tenant_id, coalesce(archive_after_days, :default_days::int) as days from tenants
   where coalesce(archive_after_days, :default_days::int) > 0
     and not exists (select from tenant_deletions where deleted_tenant_id = tenant_id)
   order by tenant_id`,
).columns<{ days: number }>();

/** Tenants whose history is archived, each with its own number of days or the default. */
export async function listTenantsToArchive(
  db: Database,
  defaultDays: number,
): Promise<{ tenant_id: string; days: number }[]> {
  return db.execute(LIST_TENANTS, { default_days: defaultDays });
}

const LIST_OPEN = statement(
  "archive.list_open",
  `select ${BATCH_COLUMNS} from archive_batches where state <> 'archived' order by batch_id`,
).columns<BatchColumns>();

/** Batches that a crash or an unavailable storage interrupted. */
export async function listOpenArchiveBatches(db: Database): Promise<ArchiveBatch[]> {
  return db.execute(LIST_OPEN);
}

/**
 * A run stays while something in the database still needs it: stored files, events, webhook deliveries, an unsettled
 * outcome, a star, or sums and indexes that have not reached it.
 */
const IS_DUE = `page.finished_at < :before::timestamptz
       and not exists (select from archived_runs where archived_runs.run_id = page.run_id)
       and not exists (select from assets where assets.run_id = page.run_id and assets.deleted_at is null)
       and not exists (select from events where events.run_id = page.run_id)
       and not exists (select from webhook_deliveries where webhook_deliveries.run_id = page.run_id)
       and not exists (select from run_marks where run_marks.run_id = page.run_id and starred)
       and not exists (
         select from attempts where attempts.run_id = page.run_id and ${IS_UNKNOWN} and settled_at is null)
       and exists (select from daily_usage_cursor where xact is not null and backfill_before is null)
       and exists (select from attributed_usage_cursor where xact is not null and backfill_before is null)
       and exists (select from run_index_position where xact is not null and backfill_before is null)`;

const INSERT_RUNS = statement(
  "archive.insert_runs",
  `with page as materialized (
     select run_id, finished_at from runs
     where tenant_id = :tenant_id and run_id > :after and run_id < uuid_floor(:before::timestamptz)
     order by run_id limit :limit
   ), due as materialized (
     select run_id, uuid_day(run_id) as day from page where ${IS_DUE}
   ), first as (
     select day from due order by run_id limit 1
   ), batch as (
     insert into archive_batches (batch_id, tenant_id, kind, day, run_ids)
     select :batch_id, :tenant_id, 'runs', day, array(select run_id from due where due.day = first.day order by run_id)
     from first
     on conflict do nothing
     returning ${BATCH_COLUMNS}, run_ids[cardinality(run_ids)] as last_run_id
   )
   select batch_id, tenant_id, day,
     coalesce(last_run_id, (select run_id from page order by run_id desc limit 1)) as next
   from (select 1) as one left join batch on true`,
).columns<{ day: string | null; next: string | null }>();

type RunPage = { tenant_id: string; batch_id: string; after: string; before: Date; limit: number };

/**
 * Opens a batch with the due runs of one day among the next `limit` runs of the tenant. `next` is where the next page
 * begins; null after the last run before the time.
 */
export async function openRunBatch(
  db: Database,
  page: RunPage,
): Promise<{ batch: ArchiveBatch | undefined; next: string | null }> {
  const [row] = await db.execute(INSERT_RUNS, page);
  const { next, batch_id, tenant_id, day } = row!;
  const isOpened = batch_id !== null && tenant_id !== null && day !== null;
  return { batch: isOpened ? { batch_id, tenant_id, kind: "runs", day } : undefined, next };
}

const LIST_RUN_LINES = statement(
  "archive.list_run_lines",
  `select line from archive_batches cross join lateral archived_run_lines(run_ids) as lines
   where batch_id = :batch_id and not exists (select from tenant_deletions where deleted_tenant_id = tenant_id)
   order by lines.run_id`,
).columns<{ line: string }>();

const LIST_AUDIT_LINES = statement(
  "archive.list_audit_lines",
  `select line from archive_batches
     cross join lateral archived_audit_lines(tenant_id, first_entry, last_entry) as lines
   where batch_id = :batch_id and not exists (select from tenant_deletions where deleted_tenant_id = tenant_id)
   order by lines.entry`,
).columns<{ line: string }>();

/** The lines of the file, without line ends. Empty if another process has archived the rows, or deletes the tenant. */
export async function listArchiveLines(
  db: Database,
  { batch_id, kind }: Pick<ArchiveBatch, "batch_id" | "kind">,
): Promise<string[]> {
  const rows = await db.execute(kind === "runs" ? LIST_RUN_LINES : LIST_AUDIT_LINES, { batch_id });
  return rows.map(({ line }) => line);
}

const SAVE_KEY = statement(
  "archive.save_key",
  `update archive_batches set stale_keys = array_remove(stale_keys || storage_key, null), storage_key = :storage_key
   where batch_id = :batch_id and state = 'open' returning stale_keys`,
);

/**
 * Before the file is written. Returns the earlier files of the batch, which are no longer part of the archive.
 * Undefined if another process has archived the batch.
 */
export async function saveArchiveKey(
  db: Database,
  batch_id: string,
  storage_key: string,
): Promise<string[] | undefined> {
  const [row] = await db.execute(SAVE_KEY, { batch_id, storage_key });
  return row?.stale_keys;
}

const HAS_KEY = statement(
  "archive.has_key",
  "select batch_id from archive_batches where batch_id = :batch_id and storage_key = :storage_key and state = 'open'",
);

/** False if another process has replaced the file by its own, or has archived the batch. */
export async function hasArchiveKey(db: Database, batch_id: string, storage_key: string): Promise<boolean> {
  return (await db.execute(HAS_KEY, { batch_id, storage_key })).length > 0;
}

const DELETE = statement(
  "archive.delete",
  `delete from archive_batches where batch_id = :batch_id and state = 'open'
   returning array_remove(stale_keys || storage_key, null) as keys`,
).columns<{ keys: string[] }>();

/** Returns the files of the batch. Empty if another process has archived the batch. */
export async function deleteArchiveBatch(db: Database, batch_id: string): Promise<string[]> {
  const [row] = await db.execute(DELETE, { batch_id });
  return row?.keys ?? [];
}

const REMOVE_RUNS = statement(
  "archive.remove_runs",
  "select remove_archived_runs(:batch_id, :storage_key, :sha256, :size_bytes) as is_removed",
).columns<{ is_removed: boolean }>();
const REMOVE_AUDIT = statement(
  "archive.remove_audit",
  "select remove_archived_audit(:batch_id, :storage_key, :sha256, :size_bytes) as is_removed",
).columns<{ is_removed: boolean }>();

/**
 * Removes the rows of the batch in one transaction, unless their lines have changed since or another file has replaced
 * this one. Returns whether it did; then the file is part of the archive.
 */
export async function removeArchivedRows(
  db: Database,
  { batch_id, kind }: Pick<ArchiveBatch, "batch_id" | "kind">,
  file: { storage_key: string; sha256: string; size_bytes: number },
): Promise<boolean> {
  const [row] = await db.execute(kind === "runs" ? REMOVE_RUNS : REMOVE_AUDIT, { batch_id, ...file });
  return row!.is_removed;
}

/**
 * All entries up to the end of the day of the first one that is not itself about the archive: otherwise the entry of a
 * batch would be archived one period later, by a batch that leaves the next such entry, for ever.
 */
const INSERT_AUDIT = statement(
  "archive.insert_audit",
  `with first as (
     select entry from audit_log where tenant_id = :tenant_id order by entry limit 1
   ), due as (
     select day_of(at) as day from audit_log
     where tenant_id = :tenant_id and action <> 'audit_log.archive' and at < :before::timestamptz order by entry limit 1
   ), next as (
     select entry from audit_log, due
     where tenant_id = :tenant_id and at >= (due.day + 1)::timestamp at time zone 'UTC' order by entry limit 1
   ), last as (
     select least(first.entry + :limit::int - 1, coalesce(next.entry - 1,
       (select entry from audit_log where tenant_id = :tenant_id order by entry desc limit 1))) as entry
     from first left join next on true
   )
   insert into archive_batches (batch_id, tenant_id, kind, day, first_entry, last_entry)
   select :batch_id, :tenant_id, 'audit', due.day, first.entry, last.entry from first, due, last
   where exists (select from audit_checkpoints
     where audit_checkpoints.tenant_id = :tenant_id and audit_checkpoints.entry >= last.entry)
   on conflict do nothing
   returning batch_id, tenant_id, to_char(day, 'YYYY-MM-DD') as day`,
).columns<{ day: string }>();

type AuditRange = { tenant_id: string; batch_id: string; before: Date; limit: number };

/**
 * Opens batches of audit entries for the archive. Only entries from the beginning of the log are archived, and only
 * those that a checkpoint covers. Undefined if no entry is due.
 */
export async function openAuditBatch(db: Database, range: AuditRange): Promise<ArchiveBatch | undefined> {
  const [row] = await db.execute(INSERT_AUDIT, range);
  return row && { ...row, kind: "audit" };
}

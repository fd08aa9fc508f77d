// What is kept until when, and what is in storage without anybody knowing it.
import type { Database } from "../connect.ts";

/** Zero: for ever. What has ended before keeps the end that it was given then. */
export async function saveRetentionDays(db: Database, days: number): Promise<void> {
  await db.query(
    "retention.set",
    "update retention set days = nullif($1, 0) where days is distinct from nullif($1, 0)",
    [days],
  );
}

export async function listExpiredRuns(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ run_id: string }>(
    "retention.expired",
    "select run_id from expiring_runs where expires_at <= now() order by expires_at limit $1",
    [limit],
  );
  return rows.map(({ run_id }) => run_id);
}

/** The files of these runs are gone for callers at once; their bytes follow through the outbox. The runs stay. */
export async function expireAssets(db: Database, runIds: string[], outboxId: string): Promise<number> {
  const [row] = await db.query<{ files: number }>(
    "retention.expire",
    `with due as (
       delete from expiring_runs where run_id = any($1::uuid[]) and expires_at <= now() returning run_id
     ), files as (
       update assets set deleted_at = now()
       where run_id = any($1::uuid[]) and deleted_at is null and run_id in (select run_id from due)
       returning storage_key
     ), work as (
       insert into outbox (outbox_id, kind, payload)
       select $2, 'delete_files', jsonb_build_object('keys', jsonb_agg(storage_key)) from files having count(*) > 0
     )
     select count(*)::int as files from files`,
    [runIds, outboxId],
  );
  return row!.files;
}

/** Which of these keys belong to files that are there, among those of the given runs. */
export async function listReferencedKeys(db: Database, runIds: string[], keys: string[]): Promise<Set<string>> {
  const rows = await db.query<{ storage_key: string }>(
    "retention.known",
    `select storage_key from assets
     where run_id = any($1::uuid[]) and storage_key = any($2::text[]) and deleted_at is null`,
    [runIds, keys],
  );
  return new Set(rows.map(({ storage_key }) => storage_key));
}

/** Remembers them, and answers those that were seen for the first time at least so long ago. */
export async function recordOrphans(db: Database, keys: string[], seconds: number): Promise<string[]> {
  const rows = await db.query<{ storage_key: string; is_old: boolean }>(
    "retention.orphans",
    `insert into orphans (storage_key) select unnest($1::text[])
     on conflict (storage_key) do update set last_seen_at = now()
     returning storage_key, first_seen_at <= now() - make_interval(secs => $2) as is_old`,
    [keys, seconds],
  );
  return rows.filter(({ is_old }) => is_old).map(({ storage_key }) => storage_key);
}

/** Takes these off the list, and all that were not seen any more. */
export async function deleteOrphanRecords(db: Database, keys: string[], seenSince: Date): Promise<void> {
  await db.query("retention.forget", "delete from orphans where storage_key = any($1::text[]) or last_seen_at < $2", [
    keys,
    seenSince,
  ]);
}

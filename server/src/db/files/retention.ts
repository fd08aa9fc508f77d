// Expiry of stored files, and objects in storage without a row.

import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { STORAGE_KEY } from "./asset-key.ts";

const SAVE_DAYS = statement(
  "retention.save_days",
  "update retention set days = nullif(:days, 0) where days is distinct from nullif(:days, 0)",
);

/** 0: without end. Runs that have already ended keep their expiry. */
export async function saveRetentionDays(db: Database, days: number): Promise<void> {
  await db.execute(SAVE_DAYS, { days });
}

const LIST_EXPIRED = statement(
  "retention.list_expired",
  "select run_id from expiring_runs where expires_at <= now() order by expires_at limit :limit",
);

export async function listExpiredRuns(db: Database, limit: number): Promise<string[]> {
  const rows = await db.execute(LIST_EXPIRED, { limit });
  return rows.map(({ run_id }) => run_id);
}

const EXPIRE_ASSETS = statement(
  "retention.expire_assets",
  `with due as (
     delete from expiring_runs where run_id = any(:run_ids::uuid[]) and expires_at <= now() returning run_id
   ), files as (
     update assets set deleted_at = now(), fingerprint = null
     where run_id = any(:run_ids::uuid[]) and deleted_at is null and run_id in (select run_id from due)
     returning ${STORAGE_KEY} as storage_key
   ), work as (
     insert into outbox (outbox_id, kind, payload)
     select :outbox_id, 'delete_files', jsonb_build_object('keys', jsonb_agg(storage_key)) from files
     having count(*) > 0
   )
   select count(*)::int as files from files`,
).columns<{ files: number }>();

/** Marks the files of these runs deleted at once; the outbox removes their bytes. The runs stay. */
export async function expireAssets(db: Database, runIds: string[], outboxId: string): Promise<number> {
  const [row] = await db.execute(EXPIRE_ASSETS, { run_ids: runIds, outbox_id: outboxId });
  return row!.files;
}

const LIST_REFERENCED_KEYS = statement(
  "retention.list_referenced_keys",
  `select ${STORAGE_KEY} as storage_key from assets
   where run_id = any(:run_ids::uuid[]) and ${STORAGE_KEY} = any(:keys::text[]) and deleted_at is null`,
).columns<{ storage_key: string }>();

/** Those of these storage keys that belong to a file of the given runs. */
export async function listReferencedKeys(db: Database, runIds: string[], keys: string[]): Promise<Set<string>> {
  const rows = await db.execute(LIST_REFERENCED_KEYS, { run_ids: runIds, keys });
  return new Set(rows.map(({ storage_key }) => storage_key));
}

const RECORD_ORPHANS = statement(
  "retention.record_orphans",
  `insert into orphaned_objects (storage_key) select unnest(:keys::text[])
   on conflict (storage_key) do update set last_seen_at = now()
   returning storage_key, first_seen_at <= now() - make_interval(secs => :seconds) as is_old`,
).columns<{ is_old: boolean }>();

/** Records these keys; returns those that were first seen at least `seconds` ago. */
export async function recordOrphans(db: Database, keys: string[], seconds: number): Promise<string[]> {
  const rows = await db.execute(RECORD_ORPHANS, { keys, seconds });
  return rows.filter(({ is_old }) => is_old).map(({ storage_key }) => storage_key);
}

const DELETE_ORPHANS = statement(
  "retention.delete_orphans",
  "delete from orphaned_objects where storage_key = any(:keys::text[]) or last_seen_at < :seen_since",
);

/** Deletes these records, and those of objects that were not seen since. */
export async function deleteOrphanRecords(db: Database, keys: string[], seenSince: Date): Promise<void> {
  await db.execute(DELETE_ORPHANS, { keys, seen_since: seenSince });
}

// Stored bytes and files of a tenant, and the parts of statements that hold them to its storage quota. Triggers on
// `assets` keep the sums, in the transaction that stores or deletes files.
import { Fault } from "../../faults/faults.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** The storage quota of a tenant. A limit that is missing does not apply. */
export type StorageLimits = { bytes?: number | undefined; files?: number | undefined };
export type StorageUsage = { bytes: number; files: number };

/**
 * SQL condition: the quota is not used up. It locks nothing, so accepted runs do not wait for each other. Its
 * parameters are `storageParameters`.
 */
export const HAS_FREE_STORAGE = `(coalesce(:storage_bytes_limit?::bigint, :stored_files_limit?::bigint) is null
  or not exists (
    select from storage_usage where tenant_id = :tenant_id
    having sum(bytes) >= :storage_bytes_limit?::bigint or sum(files) >= :stored_files_limit?::bigint))`;

/**
 * SQL condition: one more file of `:size_bytes` is within the quota. Files that are stored concurrently wait for each
 * other until the statement commits. Its parameters are `storageParameters`.
 */
export const IS_FILE_WITHIN_QUOTA = `(coalesce(:storage_bytes_limit?::bigint, :stored_files_limit?::bigint) is null
  or is_within_storage_quota(:tenant_id, :storage_bytes_limit?, :stored_files_limit?, :size_bytes))`;

export const storageParameters = (limits: StorageLimits | undefined) => ({
  storage_bytes_limit: limits?.bytes,
  stored_files_limit: limits?.files,
});

export const toStorageFault = (limits: StorageLimits | undefined): Fault =>
  new Fault("storage_quota_exceeded", { limits: { storage_bytes: limits?.bytes, stored_files: limits?.files } });

const READ = statement(
  "storage_usage.read",
  `select coalesce(sum(bytes), 0)::bigint as bytes, coalesce(sum(files), 0)::bigint as files
   from storage_usage where tenant_id = :tenant_id`,
).columns<StorageUsage>();

export async function readStorageUsage(db: Database, tenantId: string): Promise<StorageUsage> {
  const [row] = await db.execute(READ, { tenant_id: tenantId });
  return row!;
}

/**
 * Throws if the quota is used up. Call it before work on a file begins; the statement that stores the file decides.
 */
export async function assertFreeStorage(
  db: Database,
  tenantId: string,
  limits: StorageLimits | undefined,
): Promise<void> {
  if (limits?.bytes === undefined && limits?.files === undefined) return;
  const { bytes, files } = await readStorageUsage(db, tenantId);
  const isUsedUp = bytes >= (limits.bytes ?? Number.POSITIVE_INFINITY);
  if (isUsedUp || files >= (limits.files ?? Number.POSITIVE_INFINITY)) throw toStorageFault(limits);
}

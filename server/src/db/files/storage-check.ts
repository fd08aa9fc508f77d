// Compares the stored bytes and files that each tenant is counted with to the sums over its assets without thumbnails,
// in pieces of a bounded number of rows on one snapshot: it can run while files are stored and deleted.
import { FIRST_ID } from "../delete-batches.ts";
import { readSnapshot, type Snapshot } from "../snapshot.ts";
import { statement } from "../statement.ts";
import type { StorageUsage } from "./storage-usage.ts";

/** A tenant whose counted sums differ from those of its assets. */
export type StorageMismatch = { tenant_id: string; counted: StorageUsage; stored: StorageUsage };

type TenantSums = StorageUsage & { tenant_id: string };

const PIECE_ROWS = 50_000;

const SUM_PIECE = statement(
  "storage_check.sum_piece",
  `with piece as materialized (
     select asset_id, tenant_id, size_bytes, deleted_at is null and role <> 'thumbnail' as is_counted from assets
     where asset_id > :after order by asset_id limit :rows
   )
   select tenant_id, coalesce(sum(size_bytes) filter (where is_counted), 0)::float as bytes,
     count(*) filter (where is_counted)::float as files,
     (select asset_id from piece order by asset_id desc limit 1) as last
   from piece group by tenant_id`,
).columns<TenantSums & { last: string }>();

const LIST_COUNTED = statement(
  "storage_check.list_counted",
  "select tenant_id, sum(bytes)::float as bytes, sum(files)::float as files from storage_usage group by tenant_id",
).columns<TenantSums>();

export const findStorageMismatches = (
  databaseUrl: string,
  { pieceRows = PIECE_ROWS } = {},
): Promise<StorageMismatch[]> =>
  readSnapshot(databaseUrl, async (snapshot) => {
    const stored = await sumAssets(snapshot, pieceRows);
    const counted = new Map((await snapshot.execute(LIST_COUNTED)).map((sums) => [sums.tenant_id, toUsage(sums)]));
    const nothing = { bytes: 0, files: 0 };
    return [...new Set([...stored.keys(), ...counted.keys()])]
      .map((tenant_id) => ({
        tenant_id,
        counted: counted.get(tenant_id) ?? nothing,
        stored: stored.get(tenant_id) ?? nothing,
      }))
      .filter((each) => each.counted.bytes !== each.stored.bytes || each.counted.files !== each.stored.files);
  });

const toUsage = ({ bytes, files }: StorageUsage): StorageUsage => ({ bytes, files });

async function sumAssets(snapshot: Snapshot, rows: number): Promise<Map<string, StorageUsage>> {
  const sums = new Map<string, StorageUsage>();
  for (let after = FIRST_ID; ; ) {
    const piece = await snapshot.execute(SUM_PIECE, { after, rows });
    if (piece.length === 0) return sums;
    for (const { tenant_id, bytes, files } of piece) {
      const sum = sums.get(tenant_id) ?? { bytes: 0, files: 0 };
      sums.set(tenant_id, { bytes: sum.bytes + bytes, files: sum.files + files });
    }
    after = piece[0]!.last;
  }
}

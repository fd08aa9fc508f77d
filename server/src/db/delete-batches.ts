// Deletes expired rows of large tables in batches, so that no statement holds locks for long or reaches the statement
// timeout. A turn is bounded; the caller starts the next one while there is more.
const BATCH_ROWS = 5000;
const BATCHES_PER_TURN = 10;

type BatchSql = {
  table: string;
  /** The first column of an index on the table, by which expired rows are found. */
  key: string;
  /** SQL condition for the rows to delete. */
  isExpired: string;
};

/**
 * A statement that deletes the next `:limit` expired rows from the key `:after` on. Each batch starts at the last key
 * of the one before it: the index entries of deleted rows stay until the next vacuum, and would be read again.
 */
export const deleteBatchSql = ({ table, key, isExpired }: BatchSql): string => `with expired as materialized (
     select ctid as row_id, ${key} as key from ${table} where ${key} >= :after and ${isExpired}
     order by ${key} limit :limit
   ), deleted as (
     delete from ${table} where ctid = any (array(select row_id from expired)) returning 1
   )
   select count(*)::int as deleted, (select key from expired order by key desc limit 1) as last from deleted`;

type Batch<Key> = { deleted: number; last: Key | null };

/** Returns whether there may be more to delete. */
export async function deleteBatches<Key>(
  first: Key,
  deleteBatch: (page: { after: Key; limit: number }) => Promise<Batch<Key>[]>,
): Promise<boolean> {
  let after = first;
  for (let count = 0; count < BATCHES_PER_TURN; count++) {
    const [batch] = await deleteBatch({ after, limit: BATCH_ROWS });
    if (batch!.deleted < BATCH_ROWS || batch!.last === null) return false;
    after = batch!.last;
  }
  return true;
}

/** Before every id and every time. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";
export const FIRST_TIME: Date | string = "-infinity";

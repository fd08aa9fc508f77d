// The index of runs by terms: which runs are not indexed yet, and inserting their terms. Indexing a run again changes
// nothing but the terms it has gained, so the position is stored after the terms, and every run is indexed at least
// once.
import type { Database } from "../connect.ts";
import type { LogPosition } from "../event-log.ts";
import { statement } from "../statement.ts";
import type { IndexedFields } from "./search-terms.ts";

/** `backfillBefore`: runs below this id are not indexed yet; null if there are none. */
type RunIndexCursor = { position: LogPosition | null; backfillBefore: string | null };

const READ_CURSOR = statement("run_index.read_cursor", "select xact, seq, backfill_before from run_index_cursor");

export async function readRunIndexCursor(db: Database): Promise<RunIndexCursor> {
  const [row] = await db.execute(READ_CURSOR);
  const { xact, seq, backfill_before } = row!;
  return { position: xact === null || seq === null ? null : { xact, seq }, backfillBefore: backfill_before };
}

const SAVE_POSITION = statement("run_index.save_position", "update run_index_cursor set xact = :xact, seq = :seq");

export async function saveRunIndexPosition(db: Database, { xact, seq }: LogPosition): Promise<void> {
  await db.execute(SAVE_POSITION, { xact, seq });
}

const SAVE_BACKFILL = statement("run_index.save_backfill", "update run_index_cursor set backfill_before = :before?");

export async function saveRunIndexBackfill(db: Database, before: string | null): Promise<void> {
  await db.execute(SAVE_BACKFILL, { before });
}

export type UnindexedRun = IndexedFields & {
  run_id: string;
  tenant_id: string;
  created_at: Date;
  is_deleted: boolean;
};

const INDEXED_COLUMNS = `run_id, tenant_id, user_id, key_id, run_type, parent_run_id, model, provider, status,
     error ->> 'code' as error_code, inputs ->> 'prompt' as prompt, created_at, deleted_at is not null as is_deleted`;

const FIND_RUNS = statement(
  "run_index.find_runs",
  `select ${INDEXED_COLUMNS} from runs where run_id = any(:run_ids::uuid[])`,
).columns<{ is_deleted: boolean }>();

export async function findRunsToIndex(db: Database, runIds: string[]): Promise<UnindexedRun[]> {
  return runIds.length === 0 ? [] : db.execute(FIND_RUNS, { run_ids: runIds });
}

const LIST_OLDER = statement(
  "run_index.list_older",
  `select ${INDEXED_COLUMNS} from runs where run_id < :before order by run_id desc limit :limit`,
).columns<{ is_deleted: boolean }>();

/** The next runs of the backfill, newest first, of all tenants. */
export async function listRunsBefore(db: Database, before: string, limit: number): Promise<UnindexedRun[]> {
  return db.execute(LIST_OLDER, { before, limit });
}

/** `month`: the first day of the month (UTC) in which the run was accepted. */
type RunTerms = { run_id: string; tenant_id: string; month: string; terms: string[] };

/**
 * A run that was deleted meanwhile is skipped. A run is indexed when it is accepted and when it ends, so only terms
 * that it did not have `before` are inserted. `xmax` is 0 in a row that was inserted, and not in one that was updated.
 * Counts are locked in the order of their key, as in the trigger of deletions.
 */
const INSERT_TERMS = statement(
  "run_index.insert_terms",
  `with batch as (
     select run_id, tenant_id, month, array(select jsonb_array_elements_text(terms)) as terms
     from jsonb_to_recordset(:runs::jsonb) as given (run_id uuid, tenant_id uuid, month date, terms jsonb)
   ), before as materialized (
     select run_id, terms from indexed_runs where run_id = any(:run_ids::uuid[])
   ), stored as (
     insert into indexed_runs as known (run_id, tenant_id, terms)
     select run_id, tenant_id, terms from batch order by run_id
     on conflict (run_id) do update
     set terms = array(select unnest(known.terms) union select unnest(excluded.terms))
     where not known.is_deleted and not excluded.terms <@ known.terms
     returning known.run_id, known.tenant_id, known.terms, known.xmax = 0 as is_new
   ), added as (
     insert into run_terms (tenant_id, term, run_id)
     select stored.tenant_id, term, stored.run_id
     from stored left join before using (run_id), unnest(stored.terms) as term
     where before.terms is null or term <> all (before.terms)
     on conflict do nothing
     returning tenant_id, term, run_id
   ), counted as (
     insert into run_term_counts as counts (tenant_id, term, month, runs)
     select tenant_id, term, month, count(*) from (
       select added.tenant_id, added.term, batch.month from added join batch on batch.run_id = added.run_id
       where added.term not like 'word:%'
       union all
       select stored.tenant_id, '', batch.month from stored join batch on batch.run_id = stored.run_id
       where stored.is_new
     ) as new_terms
     group by tenant_id, term, month order by tenant_id, term, month
     on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs
   )
   select count(*)::int as runs from stored`,
).columns<{ runs: number }>();

/** Returns the number of runs that were indexed. */
export async function insertRunTerms(db: Database, runs: RunTerms[]): Promise<number> {
  if (runs.length === 0) return 0;
  const [row] = await db.execute(INSERT_TERMS, {
    run_ids: runs.map(({ run_id }) => run_id),
    runs: JSON.stringify(runs),
  });
  return row!.runs;
}

const COUNT_BY_MONTH = statement(
  "run_index.count_by_month",
  `select to_char(month, 'YYYY-MM') as month, runs as count from run_term_counts
   where tenant_id = :tenant_id and term = :term and runs > 0 order by run_term_counts.month desc`,
).columns<{ month: string }>();

/** Newest month first, without months that have no run. */
export async function countRunsByMonth(
  db: Database,
  tenantId: string,
  term: string,
): Promise<{ month: string; count: number }[]> {
  return db.execute(COUNT_BY_MONTH, { tenant_id: tenantId, term });
}

// The index of runs by terms: which runs are not indexed yet, and inserting their terms. Indexing a run again changes
// nothing but the terms it has gained, so the position is stored after the terms, and every run is indexed at least
// once. The database stores each term as a hash of the tenant and the term.
import type { Database } from "../connect.ts";
import type { LogPosition } from "../event-log.ts";
import { PROMPT } from "../runs/runs.ts";
import { statement } from "../statement.ts";
import type { IndexedFields, TermFilter } from "./search-terms.ts";

/** `backfillBefore`: runs below this id are not indexed yet; null if there are none. */
type RunIndexCursor = { position: LogPosition | null; backfillBefore: string | null };

const READ_CURSOR = statement("run_index.read_cursor", "select xact, seq, backfill_before from run_index_position");

export async function readRunIndexCursor(db: Database): Promise<RunIndexCursor> {
  const [row] = await db.execute(READ_CURSOR);
  const { xact, seq, backfill_before } = row!;
  return { position: xact === null || seq === null ? null : { xact, seq }, backfillBefore: backfill_before };
}

const SAVE_POSITION = statement("run_index.save_position", "update run_index_position set xact = :xact, seq = :seq");

export async function saveRunIndexPosition(db: Database, { xact, seq }: LogPosition): Promise<void> {
  await db.execute(SAVE_POSITION, { xact, seq });
}

const SAVE_BACKFILL = statement("run_index.save_backfill", "update run_index_position set backfill_before = :before?");

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
     error ->> 'code' as error_code, ${PROMPT} as prompt, created_at, deleted_at is not null as is_deleted`;

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
type RunTerms = { run_id: string; tenant_id: string; month: string; is_open: boolean; terms: string[] };

const INDEX_RUNS = statement("run_index.index_runs", "select index_runs(:runs::jsonb) as runs").columns<{
  runs: number;
}>();

/** Returns the number of runs that were indexed. */
export async function insertRunTerms(db: Database, runs: RunTerms[]): Promise<number> {
  if (runs.length === 0) return 0;
  const [row] = await db.execute(INDEX_RUNS, { runs: JSON.stringify(runs) });
  return row!.runs;
}

const COUNT_BY_MONTH = statement(
  "run_index.count_by_month",
  `select to_char(run_counts.month, 'YYYY-MM') as month, runs as count from run_counts
   where tenant_id = :tenant_id and term = term_hash(:tenant_id, :term) and runs > 0
   order by run_counts.month desc`,
).columns<{ month: string; count: number }>();

const COUNT_OF_END_USER = statement(
  "run_index.count_of_end_user",
  `select to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, count(*)::int as count from runs
   where tenant_id = :tenant_id and end_user = :end_user and deleted_at is null
     and (:status?::text is null or status = :status?)
     and (:run_type?::text is null or run_type = :run_type?)
     and (:model?::text is null or model = :model?)
     and (:provider?::text is null or provider = :provider?)
     and (:key_id?::uuid is null or key_id = :key_id?)
     and (:user_id?::text is null or user_id = :user_id?)
     and (:error_code?::text is null or error ->> 'code' = :error_code?)
     and (:roots?::boolean is not true or parent_run_id is null)
   group by 1 order by 1 desc`,
).columns<{ month: string; count: number }>();

/** The same for one end user, whose runs are counted one by one. */
export async function countRunsOfEndUser(
  db: Database,
  owner: { tenant_id: string; end_user: string },
  filter: TermFilter,
): Promise<{ month: string; count: number }[]> {
  const { status, run_type, model, provider, key_id, user_id, error_code, roots } = filter;
  return db.execute(COUNT_OF_END_USER, {
    ...{ ...owner, status, run_type, model, provider, key_id, user_id, error_code, roots },
  });
}

/** Newest month first, without months that have no run. */
export async function countRunsByMonth(
  db: Database,
  tenantId: string,
  term: string,
): Promise<{ month: string; count: number }[]> {
  return db.execute(COUNT_BY_MONTH, { tenant_id: tenantId, term });
}

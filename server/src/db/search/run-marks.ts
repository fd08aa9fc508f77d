// Stars and tags of runs. A trigger keeps the index of terms up to date with every change.
import type { Database } from "../connect.ts";
import { IS_OF_END_USER } from "../runs/runs.ts";
import { statement } from "../statement.ts";

export type RunMarks = { starred: boolean; tags: string[] };

/** The lock waits for a deletion in progress, so that no marks are stored for a deleted run. */
const SAVE = statement(
  "run_marks.save",
  `with target as (
     select run_id, tenant_id from runs
     where run_id = :run_id and tenant_id = :tenant_id and deleted_at is null and ${IS_OF_END_USER} for share
   )
   insert into run_marks as marks (run_id, tenant_id, starred, tags)
   select run_id, tenant_id, coalesce(:starred?, false), coalesce(:tags?::text[], '{}') from target
   on conflict (run_id) do update set starred = coalesce(:starred?, marks.starred),
     tags = coalesce(:tags?::text[], marks.tags), updated_at = now()
   returning starred, tags`,
);

/** Changes what is given. Undefined if the run is deleted or belongs to another tenant. */
export async function saveRunMarks(
  db: Database,
  run: { run_id: string; tenant_id: string },
  { starred, tags }: { starred?: boolean | undefined; tags?: string[] | undefined },
): Promise<RunMarks | undefined> {
  const { run_id, tenant_id } = run;
  const [row] = await db.execute(SAVE, { run_id, tenant_id, starred, tags, end_user: db.endUser });
  return row;
}

const LIST = statement(
  "run_marks.list",
  `select run_id, starred, tags from run_marks where run_id = any(:run_ids::uuid[]) and tenant_id = :tenant_id`,
);

/** Runs without stars and tags may have no row. */
export async function listRunMarks(db: Database, tenantId: string, runIds: string[]): Promise<Map<string, RunMarks>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.execute(LIST, { tenant_id: tenantId, run_ids: runIds });
  return new Map(rows.map(({ run_id, ...marks }) => [run_id, marks]));
}

// Whole trees of runs, in two statements whatever their size.
import type { RunStatus } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { RunCost, StoredAsset } from "../typed-columns.ts";
import { IS_OF_END_USER, PROMPT } from "./runs.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type RunTreeRow = {
  run_id: string;
  run_type: string;
  status: RunStatus;
  parent_run_id: string | null;
  root_run_id: string;
  model: string | null;
  provider: string | null;
  cost: RunCost | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  prompt: string | null;
  is_deleted: boolean;
  outputs: Pick<StoredAsset, "asset_id" | "media_type" | "thumbnails" | "thumbhash">[];
  /** Runs whose images and masks its plan uses. A tombstone has no plan. */
  image_run_ids: string[];
  mask_run_ids: string[];
  /** Runs that it references, other than its parent. */
  referenced_run_ids: string[];
};

const TREE_COLUMNS =
  "run_id, end_user, run_type, status, parent_run_id, root_run_id, model, provider, cost, created_at, started_at, finished_at, " +
  "deleted_at, result, plan, inputs";

const LIST_MEMBERS = statement(
  "run_tree.list_members",
  `with members as (
     select ${TREE_COLUMNS} from runs where tenant_id = :tenant_id and run_id = :root_run_id
     union all
     select ${TREE_COLUMNS} from runs
     where tenant_id = :tenant_id and root_run_id = :root_run_id and run_id >= :since and parent_run_id is not null
     union all
     select ${TREE_COLUMNS} from runs
     where tenant_id = :tenant_id and root_run_id <> :root_run_id and run_id = any (array(
       select source_run_id from run_references where root_run_id = :root_run_id and run_id >= :since
       except
       select run_id from runs where root_run_id = :root_run_id and run_id >= :since and parent_run_id is not null
     ))
   )
   select run_id, run_type, status, parent_run_id, root_run_id, model, provider, cost, created_at, started_at,
     finished_at, ${PROMPT} as prompt, deleted_at is not null as is_deleted,
     coalesce(result -> 'outputs', '[]') as outputs,
     jsonb_path_query_array(plan, '$[*].images[*].run') || jsonb_path_query_array(plan, '$[*].images[*].run_id')
       as image_run_ids,
     jsonb_path_query_array(plan, '$[*].mask.run') || jsonb_path_query_array(plan, '$[*].masks[*].run')
       || jsonb_path_query_array(plan, '$[*].mask.run_id') || jsonb_path_query_array(plan, '$[*].masks[*].run_id')
       as mask_run_ids
   from members as runs where ${IS_OF_END_USER} order by root_run_id <> :root_run_id, run_id`,
).columns<Omit<RunTreeRow, "referenced_run_ids">>();

const LIST_REFERENCES = statement(
  "run_tree.list_references",
  `select run_id, source_run_id from run_references where root_run_id = :root_run_id and run_id >= :since
   order by run_id, source_run_id`,
);

/**
 * The runs of a tree, oldest first, including tombstones; then the runs of other trees that they reference.
 * References are read by a second statement and joined here: most trees have one run, so the planner expects that of
 * every tree and would use a nested loop over thousands of rows. References are inserted with their run and never
 * change, so they are complete for every run that was read before.
 */
export async function findRunTree(db: Database, tenantId: string, rootRunId: string): Promise<RunTreeRow[]> {
  const since = earliestTreeId(rootRunId);
  const rows = await db.execute(LIST_MEMBERS, {
    ...{ tenant_id: tenantId, root_run_id: rootRunId, since, end_user: db.endUser },
  });
  const references = await db.execute(LIST_REFERENCES, { root_run_id: rootRunId, since });
  const byRun = Map.groupBy(references, (each) => each.run_id);
  return rows.map((row) => ({
    ...row,
    referenced_run_ids: (byRun.get(row.run_id) ?? []).map(({ source_run_id }) => source_run_id),
  }));
}

/**
 * The lowest id of the day before the run. No run of a tree is older than its root, but the clocks of two servers may
 * differ.
 */
function earliestTreeId(runId: string): string {
  const time = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16);
  const hex = Math.max(0, time - DAY_MS)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

// Whole trees of runs, in one statement and so in one moment: what a run refers to is read with the run.
import type { Status } from "../kit/shapes.ts";
import type { Database } from "./connect.ts";
import type { KeptAsset } from "./runs.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type TreeRow = {
  run_id: string;
  run_type: string;
  status: Status;
  parent_run_id: string | null;
  root_run_id: string;
  model: string | null;
  created_at: Date;
  is_deleted: boolean;
  outputs: Pick<KeptAsset, "asset_id" | "media_type">[];
  /** Runs that its plan takes pictures from, and masks. A deleted run has no plan any more. */
  used: string[];
  masks: string[];
  /** Runs that it refers to beside its parent. */
  sources: string[];
};

/** The runs of a tree, oldest first, deleted ones too; then the runs of other trees that they refer to. */
export async function findTree(db: Database, tenantId: string, rootRunId: string): Promise<TreeRow[]> {
  return db.query<TreeRow>(
    "tree.find",
    `with referred as (
       select run_id, array_agg(source_run_id::text order by source_run_id) as sources
       from run_references where root_run_id = $2 and run_id >= $3 group by run_id
     ), members as (
       select runs.*, referred.sources from runs left join referred using (run_id)
       where tenant_id = $1 and root_run_id = $2 and runs.run_id >= $3
       union all
       select runs.*, null from runs
       where tenant_id = $1 and root_run_id <> $2
         and run_id = any (array(select unnest(sources)::uuid from referred))
     )
     select run_id, run_type, status, parent_run_id, root_run_id, model, created_at,
       deleted_at is not null as is_deleted,
       coalesce(result -> 'outputs', '[]') as outputs,
       jsonb_path_query_array(plan, '$[*].images[*].run') as used,
       jsonb_path_query_array(plan, '$[*].mask.run') || jsonb_path_query_array(plan, '$[*].masks[*].run') as masks,
       coalesce(sources, '{}') as sources
     from members order by root_run_id <> $2, run_id`,
    [tenantId, rootRunId, dayBefore(rootRunId)],
  );
}

/**
 * The least id of the day before a run's. No run of a tree is older than its root, but the clocks of two servers may
 * differ; with this bound the partitions of all earlier days are left alone.
 */
function dayBefore(runId: string): string {
  const time = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16);
  const hex = Math.max(0, time - DAY_MS)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

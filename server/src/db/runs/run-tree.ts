// Whole trees of runs, in two statements however large they are.
import type { RunStatus } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import type { StoredAsset } from "./runs.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type RunTreeRow = {
  run_id: string;
  run_type: string;
  status: RunStatus;
  parent_run_id: string | null;
  root_run_id: string;
  model: string | null;
  created_at: Date;
  is_deleted: boolean;
  outputs: Pick<StoredAsset, "asset_id" | "media_type">[];
  /** Runs that its plan takes pictures from, and masks. A deleted run has no plan any more. */
  used: string[];
  masks: string[];
  /** Runs that it refers to beside its parent. */
  sources: string[];
};

/**
 * The runs of a tree, oldest first, deleted ones too; then the runs of other trees that they refer to. The references are
 * read after the runs and put to them here: most trees are one run, so the database expects that of every tree, and would
 * join thousands with thousands row by row. What a run refers to is written with it and never changes, so a run that was
 * read has all of its references.
 */
export async function findRunTree(db: Database, tenantId: string, rootRunId: string): Promise<RunTreeRow[]> {
  const since = earliestTreeId(rootRunId);
  const rows = await db.query<RunTreeRow>(
    "tree.runs",
    `with members as (
       select * from runs where tenant_id = $1 and run_id = $2
       union all
       select * from runs
       where tenant_id = $1 and root_run_id = $2 and run_id >= $3 and parent_run_id is not null
       union all
       select * from runs
       where tenant_id = $1 and root_run_id <> $2 and run_id = any (array(
         select source_run_id from run_references where root_run_id = $2 and run_id >= $3
         except
         select run_id from runs where root_run_id = $2 and run_id >= $3 and parent_run_id is not null
       ))
     )
     select run_id, run_type, status, parent_run_id, root_run_id, model, created_at,
       deleted_at is not null as is_deleted,
       coalesce(result -> 'outputs', '[]') as outputs,
       jsonb_path_query_array(plan, '$[*].images[*].run') as used,
       jsonb_path_query_array(plan, '$[*].mask.run') || jsonb_path_query_array(plan, '$[*].masks[*].run') as masks
     from members order by root_run_id <> $2, run_id`,
    [tenantId, rootRunId, since],
  );
  const references = await db.query<{ run_id: string; source_run_id: string }>(
    "tree.references",
    `select run_id, source_run_id from run_references where root_run_id = $1 and run_id >= $2
     order by run_id, source_run_id`,
    [rootRunId, since],
  );
  const sources = Map.groupBy(references, (each) => each.run_id);
  return rows.map((row) => ({
    ...row,
    sources: (sources.get(row.run_id) ?? []).map(({ source_run_id }) => source_run_id),
  }));
}

/**
 * The least id of the day before a run's. No run of a tree is older than its root, but the clocks of two servers may
 * differ; with this bound the partitions of all earlier days are left alone.
 */
function earliestTreeId(runId: string): string {
  const time = Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16);
  const hex = Math.max(0, time - DAY_MS)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

// Ended runs with chosen fields, inserted at once: history for tests of lists.
import { v7 } from "uuid";
import type { Database } from "../../src/db/connect.ts";

export type TestRun = {
  run_id?: string | undefined;
  tenant_id: string;
  /** In milliseconds. */
  created_at: number;
  prompt: string;
  model: string;
  provider: string;
  user_id: string;
  key_id: string;
  run_type: string;
  status: "completed" | "failed" | "canceled";
  error_code: string | null;
  /** A run without a parent. */
  parent?: TestRun | undefined;
};

const INSERT = `with given as materialized (
     select * from jsonb_to_recordset($1::jsonb) as given (run_id uuid, tenant_id uuid, created_at timestamptz,
       prompt text, model text, provider text, user_id text, key_id uuid, run_type text, status text, error_code text,
       parent_run_id uuid, root_run_id uuid)
   ), inserted as (
     insert into runs (run_id, tenant_id, user_id, key_id, operation, run_type, status, progress, parent_run_id,
       root_run_id, depth, inputs, plan, model, provider, result, error, created_at, started_at, finished_at)
     select run_id, tenant_id, user_id, key_id, 'images.generate', run_type, status,
       case when status = 'completed' then 1 else 0 end, parent_run_id, root_run_id,
       case when parent_run_id is null then 1 else 2 end, jsonb_build_object('prompt', prompt), '[]', model, provider,
       case when status = 'completed' then '{"outputs": []}'::jsonb end,
       case when status <> 'completed'
         then jsonb_build_object('code', coalesce(error_code, 'canceled_by_user'), 'message', 'x') end,
       created_at, created_at, created_at
     from given order by run_id
   )
   insert into unsuccessful_runs (tenant_id, status, run_id)
   select tenant_id, status, run_id from given where status <> 'completed'`;

/** `owner` is connected as the owner of the tables. Gives each run an id of its time. */
export async function insertEndedRuns(owner: Database, runs: TestRun[]): Promise<void> {
  for (const run of runs) run.run_id ??= v7({ msecs: run.created_at });
  const insert = (some: TestRun[]) =>
    owner.query("test.ended_runs", INSERT, [JSON.stringify(some.map(({ parent, ...run }) => toRow(run, parent)))]);
  // A trigger looks the parent up, so parents are inserted before.
  await insert(runs.filter(({ parent }) => !parent));
  await insert(runs.filter(({ parent }) => parent));
}

const toRow = (run: Omit<TestRun, "parent">, parent: TestRun | undefined) => ({
  ...run,
  created_at: new Date(run.created_at).toISOString(),
  parent_run_id: parent?.run_id ?? null,
  root_run_id: parent?.run_id ?? run.run_id,
});

// Runs whose images are stored before the run itself is accepted. Their images are deleted if the run never is.

import type { Database } from "../connect.ts";
import { STORAGE_KEY } from "../files/asset-key.ts";
import { statement } from "../statement.ts";

type RunRef = { run_id: string; tenant_id: string };

const INSERT = statement(
  "staged_runs.insert",
  "insert into staged_runs (run_id, tenant_id) values (:run_id, :tenant_id)",
);

/** Call it before the first row of `assets` is inserted for the run. */
export async function insertStagedRun(db: Database, { run_id, tenant_id }: RunRef): Promise<void> {
  await db.execute(INSERT, { run_id, tenant_id });
}

const DISCARD = statement(
  "staged_runs.discard",
  `with files as (
     delete from assets where asset_id = any(:asset_ids::uuid[])
   )
   delete from staged_runs where run_id = :run_id`,
);

/** Deletes the rows of images of a run that was certainly not accepted. */
export async function discardStagedRun(db: Database, runId: string, assetIds: string[]): Promise<void> {
  await db.execute(DISCARD, { run_id: runId, asset_ids: assetIds });
}

const SWEEP = statement(
  "staged_runs.sweep",
  `with due as (
     delete from staged_runs where run_id = any (array(
       select run_id from staged_runs where staged_at < now() - make_interval(secs => :age_seconds)
       order by staged_at limit :limit for update skip locked))
     returning run_id
   ), abandoned as (
     select run_id from due where not exists (select from runs where runs.run_id = due.run_id)
   ), files as (
     delete from assets where run_id in (select run_id from abandoned)
     returning ${STORAGE_KEY} as storage_key
   ), work as (
     insert into outbox (outbox_id, kind, payload)
     select :outbox_id, 'delete_files', jsonb_build_object('keys', jsonb_agg(storage_key)) from files
     having count(*) > 0
   )
   select (select count(*) from due)::int as due, (select count(*) from abandoned)::int as abandoned`,
).columns<{ due: number; abandoned: number }>();

/** Forgets staged runs of this age. Those that were never accepted lose their images, through the outbox. */
export async function sweepStagedRows(
  db: Database,
  { ageSeconds, limit, outboxId }: { ageSeconds: number; limit: number; outboxId: string },
): Promise<{ due: number; abandoned: number }> {
  const [row] = await db.execute(SWEEP, { age_seconds: ageSeconds, limit, outbox_id: outboxId });
  return row!;
}

// Figures of runs that have ended, for counters: how they and their attempts ended, and what they wasted.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type EndFigures = {
  /** `error_code`: empty unless the run failed. */
  runs: { operation: string; status: string; error_code: string; count: number }[];
  attempts: { provider: string; outcome: string; count: number }[];
  /** In micro-dollars. */
  wasted: number;
};

/**
 * An attempt that is open after the end of its run was abandoned, if the provider had accepted it. One that was given
 * up before it was sent says nothing about its provider.
 */
const READ = statement(
  "end_figures.read",
  `with ended as (
     select operation, status, case when status = 'failed' then coalesce(error ->> 'code', '') else '' end as error_code,
       count(*)::int as count
     from runs where run_id = any (:run_ids::uuid[]) group by 1, 2, 3
   ), outcomes as (
     select provider, count(*)::int as count,
       case when state = 'succeeded' then 'succeeded' when state = 'submitted' then 'abandoned'
         when state in ('intent', 'unknown') or fault ->> 'code' = 'provider_outcome_unknown' then 'unknown'
         else 'failed' end as outcome
     from attempts where run_id = any (:run_ids::uuid[]) and fault ->> 'code' is distinct from 'run_timeout' group by 1, 3
   )
   select (select coalesce(jsonb_agg(ended), '[]') from ended) as runs,
     (select coalesce(jsonb_agg(outcomes), '[]') from outcomes) as attempts,
     (select coalesce(sum(amount), 0)::float from transfers
      where cause_id = any (:run_ids::uuid[]) and kind = 'waste') as wasted`,
).columns<EndFigures>();

export async function readEndFigures(db: Database, runIds: string[]): Promise<EndFigures> {
  const [row] = await db.execute(READ, { run_ids: runIds });
  return row!;
}

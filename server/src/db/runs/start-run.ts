// Starts claimed runs: status, event and claim in one statement, fenced by the epoch. Runs that start at the same time
// share a statement.

import type { JsonObject } from "../../contract/schemas/run.ts";
import type { ReportedUsage } from "../../prices/price.ts";
import type { Database } from "../connect.ts";
import { gather } from "../gather.ts";
import { CLAIM_SECONDS, type RunClaim, SET_STARTED } from "../run-claims.ts";
import { statement } from "../statement.ts";
import type { StoredAsset } from "../typed-columns.ts";
import type { RunRow } from "./runs.ts";

export type StartedRun = Pick<RunRow, "run_id" | "tenant_id" | "user_id" | "plan" | "warnings"> & {
  deadline_at: Date;
  /** Outputs of earlier invocations of this run by request index, with the offer that produced them. */
  earlier_outputs: Record<
    string,
    { files: StoredAsset[]; data?: JsonObject; usage?: ReportedUsage; provider: string; upstream: string }
  >;
};

const START = statement(
  "open_runs.start",
  `with asked as (
     select run_id, tenant_id, epoch, event_id
     from unnest(:run_ids::uuid[], :tenant_ids::uuid[], :epochs::int[], :event_ids::uuid[])
       as asked (run_id, tenant_id, epoch, event_id)
   ), claim as (
     update open_runs
     set started_at = coalesce(started_at, now()), claim_expires_at = now() + make_interval(secs => :claim_seconds),
       requeue_count = 0
     from asked
     where open_runs.run_id = any(:run_ids::uuid[]) and open_runs.run_id = asked.run_id
       and open_runs.epoch = asked.epoch and open_runs.tenant_id = asked.tenant_id
     returning open_runs.run_id, deadline_at, event_id
   ), started as (
     update runs set ${SET_STARTED}
     from claim
     where runs.run_id = any(:run_ids::uuid[]) and runs.run_id = claim.run_id and status = 'queued'
     returning runs.run_id, tenant_id, last_event_xact, event_id
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, xact)
     select run_id, event_id, tenant_id, 'run.processing', last_event_xact from started
   )
   select runs.run_id, runs.tenant_id, runs.user_id, runs.plan, runs.warnings, claim.deadline_at,
     (select coalesce(jsonb_object_agg(request_index,
        output || jsonb_build_object('provider', provider, 'upstream', upstream)), '{}')
      from planned_requests where planned_requests.run_id = runs.run_id and output is not null) as earlier_outputs
   from runs join claim using (run_id) where runs.run_id = any(:run_ids::uuid[])`,
).columns<Pick<StartedRun, "earlier_outputs">>();

const start = gather<{ claim: RunClaim; eventId: string }, StartedRun | undefined>({
  keyOf: ({ claim }) => claim.run_id,
  async execute(db, items) {
    const rows = await db.execute(START, {
      run_ids: items.map(({ claim }) => claim.run_id),
      tenant_ids: items.map(({ claim }) => claim.tenant_id),
      epochs: items.map(({ claim }) => claim.epoch),
      event_ids: items.map(({ eventId }) => eventId),
      claim_seconds: CLAIM_SECONDS,
    });
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return items.map(({ claim }) => byRun.get(claim.run_id));
  },
});

/** Undefined if the claim is lost, or if it names another tenant than the run's. */
export const startClaimedRun = (db: Database, claim: RunClaim, eventId: string): Promise<StartedRun | undefined> =>
  start(db, { claim, eventId });

// The record of runs: its columns, and reading runs by id. Every read is scoped by tenant.

import type { Job } from "../../contract/operation.ts";
import type { JsonObject, RunStatus } from "../../contract/schemas/run.ts";
import type { PublicFault } from "../../faults/faults.ts";
import type { ResourceOwner } from "../access/caller.ts";
import type { Database } from "../connect.ts";
import { STORAGE_KEY } from "../files/asset-key.ts";
import { statement } from "../statement.ts";
import type { RunCost, StoredRunResult } from "../typed-columns.ts";

export type RunRow = ResourceOwner & {
  run_id: string;
  /** The visitor of an app whom the run is for. Null if no one was named. */
  end_user: string | null;
  /** Whom the cost counts for. */
  customer: string | null;
  /** The tags that the run was created with, which its cost counts for. Null: none. */
  cost_tags: string[] | null;
  operation: string;
  run_type: string;
  status: RunStatus;
  progress: number;
  phase: string | null;
  parent_run_id: string | null;
  root_run_id: string;
  depth: number;
  inputs: JsonObject;
  /** Fields of the request that the caller set. Null for uploads, and for runs of earlier versions. */
  given_fields: string[] | null;
  plan: Job[];
  metadata: JsonObject;
  webhook_url: string | null;
  model: string | null;
  provider: string | null;
  result: StoredRunResult | null;
  error: PublicFault | null;
  cost: RunCost | null;
  warnings: string[];
  cancel_requested_at: Date | null;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  expires_at: Date | null;
  deleted_at: Date | null;
};

/** The columns of `RunRow`, qualified by the name of the table or CTE. */
export const runColumns = (table = "runs") =>
  [
    ...[
      "run_id",
      "tenant_id",
      "user_id",
      "end_user",
      "customer",
      "cost_tags",
      "operation",
      "run_type",
      "status",
      "progress",
      "phase",
      "parent_run_id",
    ],
    ...[
      "root_run_id",
      "depth",
      "inputs",
      "given_fields",
      "plan",
      "metadata",
      "webhook_url",
      "model",
      "provider",
      "result",
      "error",
    ],
    ...["cost", "warnings", "cancel_requested_at", "created_at", "updated_at", "started_at", "finished_at"],
    ...["expires_at", "deleted_at"],
  ]
    .map((column) => `${table}.${column}`)
    .join(", ");

/** What a person wrote, as `promptOf` of the contract finds it. An imported model has it in its own input. */
export const PROMPT = `coalesce(inputs ->> 'prompt', inputs -> 'input' ->> 'prompt', inputs -> 'input' ->> 'text',
       inputs -> 'input' ->> 'lyrics', inputs -> 'input' ->> 'question')`;

/** The runs of the end user to whom the database is scoped; all if it is not. Beside row-level security. */
export const IS_OF_END_USER = "(:end_user?::text is null or runs.end_user = :end_user?)";

const FIND_ALL = statement(
  "runs.find_all",
  `select ${runColumns()} from runs where run_id = any(:run_ids::uuid[]) and tenant_id = :tenant_id
     and ${IS_OF_END_USER}`,
);

export async function findRuns(db: Database, tenantId: string, runIds: string[]): Promise<RunRow[]> {
  return db.execute(FIND_ALL, { tenant_id: tenantId, run_ids: runIds, end_user: db.endUser });
}

const FIND = statement(
  "runs.find",
  `select ${runColumns()} from runs where run_id = :run_id and tenant_id = :tenant_id and ${IS_OF_END_USER}`,
);

export async function findRun(db: Database, tenantId: string, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, run_id: runId, end_user: db.endUser });
  return row;
}

const LIST_ENDED = statement(
  "runs.list_ended",
  "select run_id from runs where run_id = any(:run_ids::uuid[]) and finished_at is not null",
);

/** Those of these runs that have ended, of any tenant. */
export async function listEndedRuns(db: Database, runIds: string[]): Promise<string[]> {
  const rows = await db.execute(LIST_ENDED, { run_ids: runIds });
  return rows.map((row) => row.run_id);
}

const TOMBSTONE = statement(
  "runs.tombstone",
  `with tombstone as (
     update runs set deleted_at = now(), inputs = '{}', plan = '[]', metadata = '{}', webhook_url = null,
       warnings = '[]', result = case when result is not null then '{"outputs": []}'::jsonb end,
       error = error || '{"details": {}}'
     where run_id = :run_id and tenant_id = :tenant_id and deleted_at is null and finished_at is not null
       and ${IS_OF_END_USER}
     returning run_id
   ), cleared_attempts as (
     update attempts set request = null, fault = fault || '{"details": {}}'
     where run_id = :run_id and exists (select from tombstone)
   ), cleared_outputs as (
     update planned_requests set output = null where run_id = :run_id and exists (select from tombstone)
   ), files as (
     update assets set deleted_at = now(), fingerprint = null
     where run_id = :run_id and tenant_id = :tenant_id and deleted_at is null and exists (select from tombstone)
     returning ${STORAGE_KEY} as storage_key
   ), work as (
     insert into outbox (outbox_id, kind, payload)
     select :outbox_id, 'delete_files', jsonb_build_object(
       'keys', coalesce((select jsonb_agg(storage_key) from files), '[]'),
       'run_prefix', 't/' || :tenant_id::uuid::text || '/r/' || run_id::text || '/')
     from tombstone
   ), dropped_deliveries as (
     delete from open_deliveries where run_id = :run_id and tenant_id = :tenant_id and exists (select from tombstone)
   ), cleared_deliveries as (
     update webhook_deliveries set body = null, next_attempt_at = null, finished_at = coalesce(finished_at, now()),
       status = case when status = 'pending' then 'dropped' else status end
     where run_id = :run_id and tenant_id = :tenant_id and exists (select from tombstone)
   ), deleted_secret as (
     delete from webhook_secrets where tenant_id = :tenant_id and owner_id = :run_id and exists (select from tombstone)
   )
   select run_id from tombstone`,
);

/**
 * Replaces the run by a tombstone: ids, lineage, status and cost stay. Everything that the caller or the provider wrote
 * is cleared: inputs, plan, metadata, webhook, warnings, result and the requests of its attempts. Its assets are marked
 * deleted. Everything below its storage prefix is removed through the outbox, files without a row included. Pending
 * webhook deliveries are dropped.
 */
export async function tombstoneRun(db: Database, tenantId: string, runId: string, outboxId: string): Promise<boolean> {
  const rows = await db.execute(TOMBSTONE, {
    ...{ tenant_id: tenantId, run_id: runId, outbox_id: outboxId, end_user: db.endUser },
  });
  return rows.length > 0;
}

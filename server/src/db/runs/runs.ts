// The record of runs: accepting one, reading it, listing. Every read and write is scoped by tenant.
import { Fault, type PublicFault } from "../../faults.ts";
import type { Job } from "../../kit/operation.ts";
import type { JsonObject, RunStatus } from "../../kit/schemas/run.ts";
import type { ResourceOwner } from "../access/caller.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { type BudgetLimitKind, budgetHolders, toBudgetFault } from "../money/budgets.ts";
import { statement } from "../statement.ts";
import type { SealedSecret } from "../webhooks/secrets.ts";
import { insertFilesSql } from "./insert-files.ts";
import {
  HAS_FREE_STORAGE,
  IS_FILE_WITHIN_QUOTA,
  type StorageLimits,
  storageParameters,
  toStorageFault,
} from "./storage-usage.ts";

/** A file as a run's result lists it. It never changes, so a run is shown without looking anything else up. */
export type StoredAsset = {
  asset_id: string;
  media_type: string;
  width: number;
  height: number;
  size_bytes: number;
  sha256: string;
  role: string;
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
  /** Asset ids of small copies. Absent in runs of earlier versions, and if none could be made. */
  thumbnails?: { small: string; large: string };
  thumbhash?: string;
};

/** A stored file whose row is inserted together with its run or its request. */
export type FileToInsert = StoredAsset & { storage_key: string };

/** `jobs` are the files of every job of the plan; `outputs`, those of the last. */
export type StoredRunResult = { outputs: StoredAsset[]; jobs?: StoredAsset[][]; data?: JsonObject | null };

export type RunCost = { amount: number; currency: "USD" };

export type RunRow = ResourceOwner & {
  run_id: string;
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
    ...["run_id", "tenant_id", "user_id", "operation", "run_type", "status", "progress", "phase", "parent_run_id"],
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

export type OpenRunLimits = { tenant?: number | undefined; key?: number | undefined };

/** What the end of a run is signed with, and how many days it is kept. */
export type RunWebhookSecret = SealedSecret & { retentionDays: number };

export type NewRun = ResourceOwner &
  Pick<
    RunRow,
    "run_id" | "operation" | "run_type" | "inputs" | "plan" | "metadata" | "warnings" | "root_run_id" | "depth"
  > & {
    given_fields?: string[];
    parent_run_id?: string | undefined;
    webhook_url?: string | undefined;
    webhook_secret?: RunWebhookSecret | undefined;
    model?: string | undefined;
    provider?: string | undefined;
    /** Other runs that its source images come from, beside the parent. */
    references?: string[];
    /** Which provider it waits for. */
    lane: string;
    deadlineSeconds: number;
    idempotency?: NewIdempotencyKey | undefined;
    event_id: string;
    key_id?: string | null | undefined;
    token_id?: string | undefined;
    /** What it is expected to cost, in micro-dollars; nothing where that is not known. */
    estimate?: number | null;
    /** How many runs its tenant and its key may have open; as many as they like where nothing is said. */
    openRunLimits?: OpenRunLimits | undefined;
    storageLimits?: StorageLimits | undefined;
  };

type AdmissionResult = {
  reached: BudgetLimitKind | null;
  is_below_open_limit: boolean;
  has_free_storage: boolean;
  is_accepted: boolean;
};

/**
 * A CTE that stores the webhook secret of the run that `run`, a CTE, has inserted. Its parameters are
 * `secretParameters`.
 */
const insertSecretSql = (run: string) => `sealed_secret as (
    insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed, ends_at)
    select tenant_id, run_id, :secret_id?, :secret_key_id?, :sealed_secret?,
      now() + make_interval(days => :secret_days?)
    from ${run} where :secret_id?::uuid is not null
  )`;

const secretParameters = ({ webhook_secret: secret }: NewRun) => ({
  secret_id: secret?.secret_id,
  secret_key_id: secret?.key_id,
  sealed_secret: secret?.sealed,
  secret_days: secret?.retentionDays,
});

/**
 * `admission` decides: the limit of open runs, the storage quota, and the budgets. A tenant without limits has no row
 * in `budgets`, and its budgets are not checked. Columns of the run are null unless `is_accepted`.
 */
const ACCEPT_RUN = statement(
  "runs.accept",
  `with admission as materialized (
    select (budget_check).reached, (budget_check).reached_by, (budget_check).from_balance, (budget_check).holders,
      is_below_open_limit, has_free_storage
    from (
      select coalesce(:tenant_open_limit?::int, :key_open_limit?::int) is null
          or is_below_open_run_limit(:tenant_id, :tenant_open_limit?, :key_id?, :key_open_limit?)
          as is_below_open_limit,
        ${HAS_FREE_STORAGE} as has_free_storage,
        case when :estimate?::bigint is distinct from 0 and exists (
          select from budgets where tenant_id = :tenant_id and holder_id = any(:budget_holders::uuid[]) and is_limited)
        then check_budgets(:tenant_id, :budget_holders::uuid[], :estimate?::bigint) end as budget_check
      offset 0
    ) as once
  ), ${insertIdempotencyKeySql({
    kind: "run",
    resource: ":run_id",
    from: "admission",
    when: "reached is null and is_below_open_limit and has_free_storage",
  })}, accepted as (
    insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, metadata, warnings,
                      parent_run_id, root_run_id, depth, webhook_url, model, provider, key_id, given_fields)
    select :run_id, :tenant_id, :user_id, :operation, :run_type, :inputs, :plan, :metadata, :warnings,
      :parent_run_id?, :root_run_id, :depth, :webhook_url?, :model?, :provider?, :key_id?, :given_fields?
    from admission
    where reached is null and is_below_open_limit and has_free_storage and ${IDEMPOTENCY_KEY_IS_FREE}
    returning ${runColumns()}, key_id
  ), queued as (
    insert into open_runs (run_id, tenant_id, lane, key_id, deadline_at, reserved, reserved_from, budget_holders)
    select run_id, tenant_id, :lane, key_id, now() + make_interval(secs => :deadline_seconds), :estimate?::bigint,
      case when from_balance then 'available' else 'credit' end,
      case when holders is not null then reserve_budgets(:tenant_id, holders, :estimate?::bigint) end
    from accepted, admission
    returning reserved_from
  ), reference_rows as (
    insert into run_references (run_id, source_run_id, root_run_id)
    select run_id, source, root_run_id from accepted, unnest(:reference_run_ids::uuid[]) as source
  ), event as (
    insert into events (run_id, event_id, tenant_id, type)
    select run_id, :event_id, tenant_id, 'run.queued' from accepted
  ), reservation as (
    insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
    select :run_id, 'reserve', :tenant_id, reserved_from, 'reserved', :estimate?::bigint
    from queued where :estimate?::bigint > 0
  ), ${insertSecretSql("accepted")}
  select reached, reached_by, is_below_open_limit, has_free_storage, accepted.run_id is not null as is_accepted,
    ${runColumns("accepted")}
  from admission left join accepted on true`,
).columns<AdmissionResult>();

/**
 * Inserts the run, its idempotency key, queue entry, event and reservation in one statement. Returns undefined if
 * another request holds the idempotency key. Throws if a budget, the limit of open runs or the storage quota is
 * reached.
 */
export async function insertRun(db: Database, run: NewRun): Promise<RunRow | undefined> {
  const [row] = await db.execute(ACCEPT_RUN, {
    run_id: run.run_id,
    tenant_id: run.tenant_id,
    user_id: run.user_id,
    key_id: run.key_id,
    operation: run.operation,
    run_type: run.run_type,
    inputs: run.inputs,
    given_fields: run.given_fields,
    plan: JSON.stringify(run.plan),
    metadata: run.metadata,
    warnings: JSON.stringify(run.warnings),
    parent_run_id: run.parent_run_id,
    root_run_id: run.root_run_id,
    reference_run_ids: run.references ?? [],
    depth: run.depth,
    webhook_url: run.webhook_url,
    model: run.model,
    provider: run.provider,
    lane: run.lane,
    deadline_seconds: run.deadlineSeconds,
    event_id: run.event_id,
    estimate: run.estimate,
    budget_holders: budgetHolders(run),
    tenant_open_limit: run.openRunLimits?.tenant,
    key_open_limit: run.openRunLimits?.key,
    ...storageParameters(run.storageLimits),
    ...idempotencyParameters(run.idempotency),
    ...secretParameters(run),
  });
  const { reached, reached_by, is_below_open_limit, has_free_storage, is_accepted, ...accepted } = row!;
  if (reached) throw toBudgetFault({ reached, reached_by: reached_by!, amount: run.estimate ?? null }, run);
  if (!is_below_open_limit) throw new Fault("concurrency_limit_reached", { limits: run.openRunLimits });
  if (!has_free_storage) throw toStorageFault(run.storageLimits);
  return is_accepted ? accepted : undefined;
}

const ACCEPT_UPLOAD = statement(
  "runs.accept_upload",
  `with admission as materialized (
     select ${IS_FILE_WITHIN_QUOTA} as is_within_quota
   ), ${insertIdempotencyKeySql({ kind: "run", resource: ":run_id", from: "admission", when: "is_within_quota" })}, accepted as (
     insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, parent_run_id, root_run_id, depth,
                       metadata, webhook_url, status, progress, result, started_at, finished_at)
     select :run_id, :tenant_id, :user_id, :operation, :run_type, :inputs, '[]', :parent_run_id?, :root_run_id, :depth,
       :metadata, :webhook_url?, 'completed', 1, :result, now(), now()
     from admission where is_within_quota and ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${runColumns()}
   ), files as (
     ${insertFilesSql("accepted")}
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, terminal)
     select run_id, :event_id, tenant_id, 'run.completed', true from accepted
   ), ${insertSecretSql("accepted")}
   select is_within_quota, accepted.run_id is not null as is_accepted, ${runColumns("accepted")}
   from admission left join accepted on true`,
).columns<{ is_within_quota: boolean; is_accepted: boolean }>();

/**
 * Inserts an upload: a run that is already completed and whose file is already in storage. Returns undefined if another
 * request holds the idempotency key. Throws if the file would exceed the storage quota.
 */
export async function insertUploadRun(
  db: Database,
  run: NewRun & { asset: FileToInsert; thumbnailFiles?: FileToInsert[] },
): Promise<RunRow | undefined> {
  const { storage_key: _, ...asset } = run.asset;
  const [row] = await db.execute(ACCEPT_UPLOAD, {
    run_id: run.run_id,
    tenant_id: run.tenant_id,
    user_id: run.user_id,
    operation: run.operation,
    run_type: run.run_type,
    inputs: run.inputs,
    parent_run_id: run.parent_run_id,
    root_run_id: run.root_run_id,
    depth: run.depth,
    metadata: run.metadata,
    webhook_url: run.webhook_url,
    result: { outputs: [asset] },
    size_bytes: asset.size_bytes,
    files: JSON.stringify([run.asset, ...(run.thumbnailFiles ?? [])]),
    event_id: run.event_id,
    ...storageParameters(run.storageLimits),
    ...idempotencyParameters(run.idempotency),
    ...secretParameters(run),
  });
  const { is_within_quota, is_accepted, ...accepted } = row!;
  if (!is_within_quota) throw toStorageFault(run.storageLimits);
  return is_accepted ? accepted : undefined;
}

const FIND_ALL = statement(
  "runs.find_all",
  `select ${runColumns()} from runs where run_id = any(:run_ids::uuid[]) and tenant_id = :tenant_id`,
);

export async function findRuns(db: Database, tenantId: string, runIds: string[]): Promise<RunRow[]> {
  return db.execute(FIND_ALL, { tenant_id: tenantId, run_ids: runIds });
}

const FIND = statement(
  "runs.find",
  `select ${runColumns()} from runs where run_id = :run_id and tenant_id = :tenant_id`,
);

export async function findRun(db: Database, tenantId: string, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, run_id: runId });
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
     returning run_id
   ), cleared_attempts as (
     update attempts set request = null, fault = fault || '{"details": {}}'
     where run_id = :run_id and exists (select from tombstone)
   ), cleared_outputs as (
     update planned_requests set output = null where run_id = :run_id and exists (select from tombstone)
   ), files as (
     update assets set deleted_at = now()
     where run_id = :run_id and tenant_id = :tenant_id and deleted_at is null and exists (select from tombstone)
     returning storage_key
   ), work as (
     insert into outbox (outbox_id, kind, payload)
     select :outbox_id, 'delete_files', jsonb_build_object('keys', jsonb_agg(storage_key)) from files
     having count(*) > 0
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
 * deleted and their bytes removed through the outbox. Pending webhook deliveries are dropped.
 */
export async function tombstoneRun(db: Database, tenantId: string, runId: string, outboxId: string): Promise<boolean> {
  const rows = await db.execute(TOMBSTONE, { tenant_id: tenantId, run_id: runId, outbox_id: outboxId });
  return rows.length > 0;
}

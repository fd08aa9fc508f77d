// Inserts an upload: a run that is already completed and whose file is already in storage. The run, its files, its
// event and its idempotency key are inserted in one statement.
import type { Database } from "../connect.ts";
import { type FileToInsert, insertFilesSql } from "../files/insert-files.ts";
import { IS_FILE_WITHIN_QUOTA, storageParameters, toStorageFault } from "../files/storage-usage.ts";
import { IDEMPOTENCY_KEY_IS_FREE, idempotencyParameters, insertIdempotencyKeySql } from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import type { NewRun } from "./insert-run.ts";
import { type RunRow, runColumns } from "./runs.ts";

const ACCEPT_UPLOAD = statement(
  "runs.accept_upload",
  `with admission as materialized (
     select ${IS_FILE_WITHIN_QUOTA} as is_within_quota
   ), ${insertIdempotencyKeySql({ kind: "run", resource: ":run_id", from: "admission", when: "is_within_quota" })}, accepted as (
     insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, parent_run_id, root_run_id, depth,
                       metadata, webhook_url, status, progress, result, started_at, finished_at, end_user)
     select :run_id, :tenant_id, :user_id, :operation, :run_type, :inputs, '[]', :parent_run_id?, :root_run_id, :depth,
       :metadata, :webhook_url?, 'completed', 1, :result, now(), now(), :end_user?
     from admission where is_within_quota and ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${runColumns()}
   ), files as (
     ${insertFilesSql("accepted")}
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, terminal)
     select run_id, :event_id, tenant_id, 'run.completed', true from accepted
   ), sealed_secret as (
     insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed, ends_at)
     select tenant_id, run_id, :secret_id?, :secret_key_id?, :sealed_secret?,
       now() + make_interval(days => :secret_days?)
     from accepted where :secret_id?::uuid is not null
   )
   select is_within_quota, accepted.run_id is not null as is_accepted, ${runColumns("accepted")}
   from admission left join accepted on true`,
).columns<{ is_within_quota: boolean; is_accepted: boolean }>();

/** Undefined if another request holds the idempotency key. Throws if the file would exceed the storage quota. */
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
    end_user: run.end_user,
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
    secret_id: run.webhook_secret?.secret_id,
    secret_key_id: run.webhook_secret?.key_id,
    sealed_secret: run.webhook_secret?.sealed,
    secret_days: run.webhook_secret?.retentionDays,
  });
  const { is_within_quota, is_accepted, ...accepted } = row!;
  if (!is_within_quota) throw toStorageFault(run.storageLimits);
  return is_accepted ? accepted : undefined;
}

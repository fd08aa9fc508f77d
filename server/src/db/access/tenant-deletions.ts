// Deletions of tenants: the request, the runs that end first, the state of the work, and the tombstone that stays.
// Nothing here is scoped by tenant: callers have the operator's scope, or are background work.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { TenantDeletionState } from "../typed-columns.ts";
import { type Actor, actorParameters } from "./audit-log.ts";

export type TenantDeletionRow = {
  deleted_tenant_id: string;
  state: TenantDeletionState;
  requested_at: Date;
  completed_at: Date | null;
  deleted_rows: JsonObject;
  ledger: JsonObject;
  deleted_objects: number;
  deleted_bytes: number;
  audit_digest: Buffer | null;
  digest: Buffer | null;
};

const DELETION_COLUMNS = `deleted_tenant_id, state, requested_at, completed_at, deleted_rows, ledger, deleted_objects,
  deleted_bytes, audit_digest, digest`;

const INSERT = statement(
  "tenant_deletions.insert",
  `with tenant as (
     select tenant_id from tenants where tenant_id = :tenant_id and suspended_at is not null for update
   ), inserted as (
     insert into tenant_deletions (deleted_tenant_id, operator_tenant_id)
     select tenant_id, :actor_tenant_id from tenant on conflict do nothing returning ${DELETION_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject)
     select :actor_tenant_id, :actor_user_id, :actor_key_id?::uuid, 'tenants.delete', deleted_tenant_id::text
     from inserted
   )
   select ${DELETION_COLUMNS} from inserted`,
);

/**
 * Requests the deletion of a suspended tenant. The audit entry is in the operator's log, because the log of the tenant
 * is deleted. Undefined if the tenant is not suspended, or if its deletion was already requested.
 */
export async function insertTenantDeletion(
  db: Database,
  actor: Actor,
  tenantId: string,
): Promise<TenantDeletionRow | undefined> {
  const [row] = await db.execute(INSERT, {
    tenant_id: tenantId,
    actor_tenant_id: actor.tenant_id,
    ...actorParameters(actor),
  });
  return row;
}

const FIND = statement(
  "tenant_deletions.find",
  `select ${DELETION_COLUMNS} from tenant_deletions where deleted_tenant_id = :tenant_id`,
);

export async function findTenantDeletion(db: Database, tenantId: string): Promise<TenantDeletionRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId });
  return row;
}

const LIST_OPEN = statement(
  "tenant_deletions.list_open",
  `select deleted_tenant_id as tenant_id, state, extract(epoch from now() - state_since)::float as seconds_in_state
   from tenant_deletions where state <> 'completed' order by requested_at`,
).columns<{ seconds_in_state: number }>();

export type OpenTenantDeletion = { tenant_id: string; state: TenantDeletionState; seconds_in_state: number };

/** Deletions that are not completed, oldest request first. */
export async function listOpenTenantDeletions(db: Database): Promise<OpenTenantDeletion[]> {
  return db.execute(LIST_OPEN);
}

const SET_STATE = statement(
  "tenant_deletions.set_state",
  `update tenant_deletions set state = :state, state_since = now()
   where deleted_tenant_id = :tenant_id and state <> 'completed'`,
);

export async function setTenantDeletionState(
  db: Database,
  tenantId: string,
  state: Exclude<TenantDeletionState, "completed">,
): Promise<void> {
  await db.execute(SET_STATE, { tenant_id: tenantId, state });
}

const ADD_OBJECTS = statement(
  "tenant_deletions.add_objects",
  `update tenant_deletions set deleted_objects = deleted_objects + :objects, deleted_bytes = deleted_bytes + :bytes
   where deleted_tenant_id = :tenant_id`,
);

export async function addDeletedObjects(
  db: Database,
  tenantId: string,
  { objects, bytes }: { objects: number; bytes: number },
): Promise<void> {
  await db.execute(ADD_OBJECTS, { tenant_id: tenantId, objects, bytes });
}

/** The values that the digest of a certificate covers, in this order. Times are seconds since 1970, exactly. */
const CERTIFICATE = `jsonb_build_array(deleted_tenant_id, extract(epoch from requested_at), extract(epoch from now()),
  deleted_rows, ledger, deleted_objects, deleted_bytes, encode(audit_digest, 'hex'))`;

const COMPLETE = statement(
  "tenant_deletions.complete",
  `with completed as (
     update tenant_deletions set state = 'completed', state_since = now(), completed_at = now(),
       digest = sha256(convert_to(${CERTIFICATE}::text, 'UTF8'))
     where deleted_tenant_id = :tenant_id and state = 'deleting'
     returning deleted_tenant_id, operator_tenant_id, digest
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, action, subject, details)
     select operator_tenant_id, 'gesso', 'tenants.deleted', deleted_tenant_id::text,
       jsonb_build_object('digest', encode(digest, 'hex'))
     from completed join tenants on tenants.tenant_id = operator_tenant_id
   )
   select deleted_tenant_id from completed`,
);

/** Ends the deletion. Its digest is also in the operator's audit log, whose entries are chained. */
export async function completeTenantDeletion(db: Database, tenantId: string): Promise<boolean> {
  return (await db.execute(COMPLETE, { tenant_id: tenantId })).length > 0;
}

const KEEP_SUSPENDED = statement(
  "tenant_deletions.keep_suspended",
  "update tenants set suspended_at = now() where tenant_id = :tenant_id and suspended_at is null",
);

/** A change of the tenant at the same moment as the request may have resumed it. */
export async function keepTenantSuspended(db: Database, tenantId: string): Promise<void> {
  await db.execute(KEEP_SUSPENDED, { tenant_id: tenantId });
}

type TenantOpenRun = {
  run_id: string;
  is_cancel_requested: boolean;
  /** The run did not end by itself within the time, and no request to a provider is in flight. */
  is_stuck: boolean;
};

const LIST = statement(
  "tenant_open_runs.list",
  `select run_id, cancel_requested_at is not null as is_cancel_requested,
     coalesce(cancel_requested_at < now() - make_interval(secs => :grace_seconds), false) and not exists (
       select from attempts where attempts.run_id = open_runs.run_id and lease_until > now()
         and state in ('intent', 'unknown')) as is_stuck
   from open_runs where tenant_id = :tenant_id order by run_id limit :limit`,
).columns<Omit<TenantOpenRun, "run_id">>();

/** The open runs of one tenant, and the jobs of its ended runs that are still to be canceled at their providers. */
export async function listOpenRunsOfTenant(
  db: Database,
  tenantId: string,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<TenantOpenRun[]> {
  return db.execute(LIST, { tenant_id: tenantId, grace_seconds: graceSeconds, limit });
}

const COUNT_CANCELLATIONS = statement(
  "tenant_open_runs.count_cancellations",
  `select count(*)::int as jobs from outbox join runs on runs.run_id = (payload ->> 'run_id')::uuid
   where kind = 'cancel_job' and tenant_id = :tenant_id and attempt_count < :attempts`,
).columns<{ jobs: number }>();

/** Cancellations at providers that were tried less than `attempts` times. */
export async function countPendingCancellations(db: Database, tenantId: string, attempts: number): Promise<number> {
  const [row] = await db.execute(COUNT_CANCELLATIONS, { tenant_id: tenantId, attempts });
  return row!.jobs;
}

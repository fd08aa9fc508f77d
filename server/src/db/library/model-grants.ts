// Grants of custom models to users and tenants. Only callers that may manage the model see or change them, and every
// change is recorded in the audit log of the model's tenant.
import { actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import { MAY_MANAGE, type ModelManager, managerParameters } from "./custom-models.ts";

export type ModelGrantee = { tenant_id: string; user_id: string | null };
export type ModelGrantRow = ModelGrantee & { grant_id: string; model_id: string; created_at: Date };

const GRANT_COLUMNS = "grant_id, model_id, tenant_id, user_id, created_at";

/** Parameters: `managerParameters` and `model_id`. */
const MANAGED_MODEL = `select model_id from models where model_id = :model_id and ${MAY_MANAGE}`;

/** Inserts an audit entry for each selected grant. Parameters: `managerParameters` and `actorParameters`. */
const auditGrantSql = (action: string) =>
  `insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, '${action}', model_id::text,
       jsonb_build_object('to_tenant', tenant_id, 'to_user', user_id)`;

export type NewModelGrant = ModelGrantee & {
  grant_id: string;
  idempotency?: NewIdempotencyKey | undefined;
};

/** A tenant cannot refuse grants, which limits how many another tenant can send. */
export const MAX_GRANTS_TO_OTHER_TENANTS = 1000;

const INSERT = statement(
  "model_grants.insert",
  `with managed as (
     ${MANAGED_MODEL} and (:grantee_tenant_id::uuid = :tenant_id or (
       select count(*) from (
         select from model_grants where owner_tenant_id = :tenant_id and tenant_id <> :tenant_id
         limit ${MAX_GRANTS_TO_OTHER_TENANTS}
       ) as given) < ${MAX_GRANTS_TO_OTHER_TENANTS})
   ), ${insertIdempotencyKeySql({ kind: "model_grant", resource: ":grant_id", from: "managed" })}, granted as (
     insert into model_grants (grant_id, model_id, tenant_id, user_id)
     select :grant_id, model_id, :grantee_tenant_id, :grantee_user_id? from managed
     where ${IDEMPOTENCY_KEY_IS_FREE}
     on conflict (model_id, tenant_id, user_id) do update set user_id = excluded.user_id
     returning ${GRANT_COLUMNS}
   ), audit_entry as (
     ${auditGrantSql("models.grants.create")} from granted where grant_id = :grant_id
   )
   select ${GRANT_COLUMNS} from granted`,
);

/**
 * Idempotent: returns the existing grant to the same grantee. Undefined if another request holds the idempotency key,
 * if there is no such model to manage, or if the tenant has the maximum number of grants to other tenants.
 */
export async function insertModelGrant(
  db: Database,
  manager: ModelManager,
  modelId: string,
  grant: NewModelGrant,
): Promise<ModelGrantRow | undefined> {
  const [row] = await db.execute(INSERT, {
    ...managerParameters(manager),
    ...actorParameters(manager),
    model_id: modelId,
    grant_id: grant.grant_id,
    grantee_tenant_id: grant.tenant_id,
    grantee_user_id: grant.user_id,
    ...idempotencyParameters(grant.idempotency),
  });
  return row;
}

const LIST = statement(
  "model_grants.list",
  `select ${GRANT_COLUMNS} from model_grants
   where model_id = (${MANAGED_MODEL}) and (:before?::uuid is null or grant_id < :before?)
   order by grant_id desc limit :limit`,
);

/** Newest first, with keyset pagination. */
export async function listModelGrantRows(
  db: Database,
  manager: ModelManager,
  modelId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ModelGrantRow[]> {
  return db.execute(LIST, { ...managerParameters(manager), model_id: modelId, before, limit });
}

const DELETE = statement(
  "model_grants.delete",
  `with revoked as (
     delete from model_grants
     where model_id = (${MANAGED_MODEL}) and tenant_id = :grantee_tenant_id
       and user_id is not distinct from :grantee_user_id?
     returning ${GRANT_COLUMNS}
   ), audit_entry as (
     ${auditGrantSql("models.grants.delete")} from revoked
   )
   select ${GRANT_COLUMNS} from revoked`,
);

/** Deletes the grant and returns it. Undefined if there is no such grant, or no such model to manage. */
export async function deleteModelGrantRow(
  db: Database,
  manager: ModelManager,
  modelId: string,
  to: ModelGrantee,
): Promise<ModelGrantRow | undefined> {
  const [row] = await db.execute(DELETE, {
    ...managerParameters(manager),
    ...actorParameters(manager),
    model_id: modelId,
    grantee_tenant_id: to.tenant_id,
    grantee_user_id: to.user_id,
  });
  return row;
}

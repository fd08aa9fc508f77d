// Tenants, for the operator. Nothing here is scoped by tenant: callers have the operator's scope.
import type { TenantProvenance } from "../../contract/schemas/access.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import type { NewApiKeyRow } from "./api-keys.ts";
import { type Actor, actorParameters } from "./audit-log.ts";
import { extendDeadlinesSql } from "./suspension.ts";

export type TenantRow = {
  tenant_id: string;
  name: string;
  weight: number;
  limits: JsonObject;
  retention_days: number | null;
  archive_after_days: number | null;
  provenance: JsonObject | null;
  suspended_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type NewTenantRow = Pick<TenantRow, "tenant_id" | "name" | "weight" | "limits" | "retention_days"> & {
  owner: { user_id: string; name: string | null; email: string | null };
  key: Pick<NewApiKeyRow, "key_id" | "digest" | "hint" | "name" | "scopes">;
  idempotency?: NewIdempotencyKey | undefined;
};

const TENANT_COLUMNS =
  "tenant_id, name, weight, limits, retention_days, archive_after_days, provenance, suspended_at, created_at, updated_at";

const INSERT = statement(
  "tenants.insert",
  `with ${insertIdempotencyKeySql({ kind: "tenant", resource: ":tenant_id", tenant: ":actor_tenant_id" })}, inserted as (
     insert into tenants (tenant_id, name, weight, limits, retention_days)
     select :tenant_id, :name, :weight, :limits, :retention_days? where ${IDEMPOTENCY_KEY_IS_FREE}
     returning ${TENANT_COLUMNS}
   ), owner as (
     insert into members (tenant_id, user_id, role, name, email)
     select tenant_id, :owner_user_id, 'owner', :owner_name?, :owner_email? from inserted
   ), first_key as (
     insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
     select :key_id, tenant_id, :owner_user_id, :key_name, :digest, :hint, :scopes from inserted
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'tenants.create', tenant_id::text,
       jsonb_build_object('name', name, 'weight', weight, 'limits', limits, 'retention_days', retention_days,
         'owner', :owner_user_id::text, 'key_id', :key_id::uuid, 'by_tenant', :actor_tenant_id::uuid)
     from inserted
   )
   select ${TENANT_COLUMNS} from inserted`,
);

/** Inserts tenant, owner and key in one statement. Undefined if another request holds the idempotency key. */
export async function insertTenant(db: Database, actor: Actor, tenant: NewTenantRow): Promise<TenantRow | undefined> {
  const { owner, key } = tenant;
  const [row] = await db.execute(INSERT, {
    actor_tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    tenant_id: tenant.tenant_id,
    name: tenant.name,
    weight: tenant.weight,
    limits: tenant.limits,
    retention_days: tenant.retention_days,
    owner_user_id: owner.user_id,
    owner_name: owner.name,
    owner_email: owner.email,
    key_id: key.key_id,
    key_name: key.name,
    digest: key.digest,
    hint: key.hint,
    scopes: key.scopes,
    ...idempotencyParameters(tenant.idempotency),
  });
  return row;
}

const FIND = statement("tenants.find", `select ${TENANT_COLUMNS} from tenants where tenant_id = :tenant_id`);

export async function findTenant(db: Database, tenantId: string): Promise<TenantRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId });
  return row;
}

const LIST = statement(
  "tenants.list",
  `select ${TENANT_COLUMNS} from tenants where :before?::uuid is null or tenant_id < :before?
   order by tenant_id desc limit :limit`,
);

/** Newest first, with keyset pagination. */
const FIND_UNKNOWN = statement(
  "tenants.find_unknown",
  `select id from unnest(:tenant_ids::uuid[]) as id where not exists (select from tenants where tenant_id = id) limit 1`,
);

/** The first of the IDs that is no tenant's. */
export async function findUnknownTenant(db: Database, tenantIds: string[]): Promise<string | undefined> {
  const [row] = await db.execute(FIND_UNKNOWN, { tenant_ids: tenantIds });
  return row?.id as string | undefined;
}

export async function listTenantRows(db: Database, before: string | undefined, limit: number): Promise<TenantRow[]> {
  return db.execute(LIST, { before, limit });
}

export type TenantChange = Partial<
  Pick<TenantRow, "name" | "weight" | "limits" | "retention_days" | "archive_after_days" | "provenance"> & {
    suspended: boolean;
  }
>;

const UPDATE = statement(
  "tenants.update",
  `with before as (
     select suspended_at as held_since from tenants where tenant_id = :tenant_id for update
   ), changed as (
     update tenants set name = coalesce(:name?, name), weight = coalesce(:weight?, weight),
       limits = coalesce(:limits?::jsonb, limits),
       suspended_at = case :suspended?::boolean when true then coalesce(suspended_at, now()) when false then null
         else suspended_at end,
       retention_days = case when :has_retention_days then :retention_days? else retention_days end,
       archive_after_days = case when :has_archive_after_days then :archive_after_days? else archive_after_days end,
       provenance = case when :has_provenance then :provenance?::jsonb else provenance end, updated_at = now()
     from before where tenant_id = :tenant_id returning ${TENANT_COLUMNS}, held_since
   ), ${extendDeadlinesSql({ changed: "changed" })}, audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'tenants.update', tenant_id::text, :change::jsonb
     from changed
   )
   select ${TENANT_COLUMNS} from changed`,
);

export async function updateTenantRow(
  db: Database,
  actor: Actor,
  tenantId: string,
  change: TenantChange,
): Promise<TenantRow | undefined> {
  const [row] = await db.execute(UPDATE, {
    tenant_id: tenantId,
    ...actorParameters(actor),
    name: change.name,
    weight: change.weight,
    limits: change.limits,
    suspended: change.suspended,
    has_retention_days: change.retention_days !== undefined,
    retention_days: change.retention_days,
    has_archive_after_days: change.archive_after_days !== undefined,
    archive_after_days: change.archive_after_days,
    has_provenance: change.provenance !== undefined,
    provenance: change.provenance,
    change: { ...change, by_tenant: actor.tenant_id },
  });
  return row;
}

const FIND_PROVENANCE = statement(
  "tenants.find_provenance",
  "select provenance from tenants where tenant_id = :tenant_id",
);

/** The provenance settings of a tenant, for workers. Undefined if the tenant has no settings of its own. */
export async function findTenantProvenance(db: Database, tenantId: string): Promise<TenantProvenance | undefined> {
  const [row] = await db.execute(FIND_PROVENANCE, { tenant_id: tenantId });
  return (row?.provenance as TenantProvenance | null | undefined) ?? undefined;
}

// Tenants, as the operator sees them. Nothing here is scoped by tenant: whoever comes here has the operator's right.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import type { NewApiKeyRow } from "./api-keys.ts";
import type { Actor } from "./audit-log.ts";

export type TenantRow = {
  tenant_id: string;
  name: string;
  weight: number;
  limits: JsonObject;
  retention_days: number | null;
  suspended_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type NewTenantRow = Pick<TenantRow, "tenant_id" | "name" | "weight" | "limits" | "retention_days"> & {
  owner: { user_id: string; name: string | null; email: string | null };
  key: Pick<NewApiKeyRow, "key_id" | "digest" | "hint" | "name" | "scopes">;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};

/** Tenant, owner and key in one statement. Undefined: the idempotency key is taken. */
export async function insertTenant(db: Database, actor: Actor, tenant: NewTenantRow): Promise<TenantRow | undefined> {
  const { owner, key, idempotency } = tenant;
  const [row] = await db.query<TenantRow>(
    "tenants.create",
    `with once as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $16, $17, $18, $1 where $17::text is not null
       on conflict do nothing returning run_id
     ), made as (
       insert into tenants (tenant_id, name, weight, limits, retention_days)
       select $1, $2, $3, $4, $19 where $17::text is null or exists (select from once)
       returning *
     ), person as (
       insert into members (tenant_id, user_id, role, name, email)
       select tenant_id, $5, 'owner', $6, $7 from made
     ), first as (
       insert into api_keys (key_id, tenant_id, user_id, name, digest, hint, scopes)
       select $8, tenant_id, $5, $9, $10, $11, $12 from made
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select tenant_id, $13, $14::uuid, 'tenants.create', tenant_id::text,
         jsonb_build_object('name', name, 'weight', weight, 'limits', limits, 'retention_days', retention_days,
           'owner', $5::text, 'key_id', $8::uuid, 'by_tenant', $15::uuid)
       from made
     )
     select * from made`,
    [
      ...[tenant.tenant_id, tenant.name, tenant.weight, tenant.limits, owner.user_id, owner.name, owner.email],
      ...[key.key_id, key.name, key.digest, key.hint, key.scopes, actor.user_id, actor.key_id, actor.tenant_id],
      ...[actor.tenant_id, idempotency?.key, idempotency?.fingerprint, tenant.retention_days],
    ],
  );
  return row;
}

export async function findTenant(db: Database, tenantId: string): Promise<TenantRow | undefined> {
  const [row] = await db.query<TenantRow>("tenants.find", "select * from tenants where tenant_id = $1", [tenantId]);
  return row;
}

/** Newest first, by key-set. */
export async function listTenantRows(db: Database, before: string | undefined, limit: number): Promise<TenantRow[]> {
  return db.query<TenantRow>(
    "tenants.list",
    "select * from tenants where $1::uuid is null or tenant_id < $1 order by tenant_id desc limit $2",
    [before, limit],
  );
}

export type TenantChange = Partial<
  Pick<TenantRow, "name" | "weight" | "limits" | "retention_days"> & { suspended: boolean }
>;

export async function updateTenantRow(
  db: Database,
  actor: Actor,
  tenantId: string,
  change: TenantChange,
): Promise<TenantRow | undefined> {
  const [row] = await db.query<TenantRow>(
    "tenants.change",
    `with changed as (
       update tenants set name = coalesce($2, name), weight = coalesce($3, weight), limits = coalesce($4::jsonb, limits),
         suspended_at = case $5::boolean when true then coalesce(suspended_at, now()) when false then null else suspended_at end,
         retention_days = case when $9 then $10 else retention_days end, updated_at = now()
       where tenant_id = $1 returning *
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select tenant_id, $6, $7::uuid, 'tenants.update', tenant_id::text, $8::jsonb from changed
     )
     select * from changed`,
    [
      ...[tenantId, change.name, change.weight, change.limits, change.suspended],
      ...[actor.user_id, actor.key_id, { ...change, by_tenant: actor.tenant_id }],
      ...[change.retention_days !== undefined, change.retention_days],
    ],
  );
  return row;
}

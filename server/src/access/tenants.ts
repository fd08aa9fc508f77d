// Tenants, for the operator. The right to come here is a scope of its own, which no `*` includes.
import { createHash } from "node:crypto";
import { findApiKey } from "../db/access/api-keys.ts";
import { findTenant, insertTenant, listTenantRows, type TenantRow, updateTenantRow } from "../db/access/tenants.ts";
import { findIdempotencyKey } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { AccessLimits, NewApiKey, Tenant } from "../kit/schemas/access.ts";
import { assertNotAccessToken } from "./delegation.ts";
import { newApiKeyRow, renderApiKey } from "./keys.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

const FIRST_KEY = { name: "The first key", scopes: ["*"] };

export function createTenantStore(desk: RequestContext): AccessServices["tenants"] {
  const { system, caller, cursors } = desk;
  const found = (row: TenantRow | undefined): Tenant => {
    if (!row) throw new Fault("route_not_found");
    return renderTenant(row);
  };
  return {
    create: (draft, owner) => createTenantIdempotently(desk, draft, owner),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["tenants"],
        read: (before, limit) => listTenantRows(system, before, limit),
        cursorId: (row) => row.tenant_id,
        show: renderTenant,
      }),
    get: async (tenantId) => found(await findTenant(system, tenantId)),
    async update(tenantId, change) {
      assertNotAccessToken(caller);
      found(await findTenant(system, tenantId));
      const row = await updateTenantRow(system, caller, tenantId, change);
      desk.keys.forget();
      return found(row);
    },
  };
}

type Create = AccessServices["tenants"]["create"];

async function createTenantIdempotently(
  desk: RequestContext,
  ...[draft, person]: Parameters<Create>
): ReturnType<Create> {
  const { system, caller, idempotencyKey } = desk;
  assertNotAccessToken(caller);
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["tenants.create", draft, person]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const owner = { name: null, email: null, ...person };
  const tenant_id = desk.newId();
  const { key, ...secret } = newApiKeyRow(desk);
  const row = await insertTenant(system, caller, {
    ...draft,
    tenant_id,
    owner,
    key: { ...secret, ...FIRST_KEY },
    idempotency,
  });
  if (row) {
    return { ...renderTenant(row), owner_key: await ownerKey(desk, tenant_id, secret.key_id, key) };
  }
  const known = await findIdempotencyKey(system, caller.tenant_id, idempotency!.key);
  if (known && !known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  throw new Fault("conflict", { retryable: false, reason: "already_made", tenant_id: known?.resource_id });
}

async function ownerKey({ system }: RequestContext, tenantId: string, keyId: string, key: string): Promise<NewApiKey> {
  const row = await findApiKey(system, tenantId, keyId, undefined);
  return { ...renderApiKey(row!), key };
}

const renderTenant = ({ tenant_id, suspended_at, created_at, updated_at, ...row }: TenantRow): Tenant => ({
  id: tenant_id,
  name: row.name,
  weight: row.weight,
  limits: row.limits as AccessLimits,
  retention_days: row.retention_days,
  suspended: suspended_at !== null,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

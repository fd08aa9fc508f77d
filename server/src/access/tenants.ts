// Tenants, managed by the operator. Requires a `tenants` scope, which `*` does not include.
import { findApiKey } from "../db/access/api-keys.ts";
import { findTenantDeletion } from "../db/access/tenant-deletions.ts";
import { findTenant, insertTenant, listTenantRows, type TenantRow, updateTenantRow } from "../db/access/tenants.ts";
import type { Database } from "../db/connect.ts";
import { Fault } from "../faults.ts";
import { createOnce } from "../idempotency/create-once.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { Ids } from "../kit/clock.ts";
import type { NewApiKey, Tenant, TenantLimits, TenantProvenance } from "../kit/schemas/access.ts";
import { assertNotAccessToken } from "./delegation.ts";
import { newApiKeyRow, renderApiKey } from "./keys.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

const FIRST_KEY = { name: "The first key", scopes: ["*"] };

/** `canSign`: whether the installation has a certificate that signs outputs. */
type Dependencies = {
  systemDatabase: Database;
  ids: Ids;
  cell: string;
  canSign: boolean;
  invalidateCredentials(): void;
};

export function createTenantStore(
  dependencies: Dependencies,
  context: RequestContext,
): Pick<AccessServices["tenants"], "create" | "list" | "get" | "update"> {
  const { systemDatabase } = dependencies;
  const { caller, cursors } = context;
  const requireTenant = (row: TenantRow | undefined): Tenant => {
    if (!row) throw new Fault("route_not_found");
    return renderTenant(row);
  };
  return {
    create: (draft, owner) => createTenantIdempotently(dependencies, context, draft, owner),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["tenants"],
        read: (before, limit) => listTenantRows(systemDatabase, before, limit),
        cursorId: (row) => row.tenant_id,
        render: renderTenant,
      }),
    get: async (tenantId) => requireTenant(await findTenant(systemDatabase, tenantId)),
    async update(tenantId, change) {
      assertNotAccessToken(caller);
      requireTenant(await findTenant(systemDatabase, tenantId));
      if (await findTenantDeletion(systemDatabase, tenantId))
        throw new Fault("conflict", { retryable: false, reason: "being_deleted" });
      if (change.provenance?.mode === "sign" && !dependencies.canSign)
        throw new Fault("validation_error", {
          errors: [
            { path: "/provenance/mode", code: "custom", message: "sign needs the setting PROVENANCE_CERTIFICATE" },
          ],
        });
      const row = await updateTenantRow(systemDatabase, caller, tenantId, change);
      dependencies.invalidateCredentials();
      return requireTenant(row);
    },
  };
}

type Create = AccessServices["tenants"]["create"];

/** A repeated request is a conflict, because the key of the owner is returned once. */
async function createTenantIdempotently(
  { systemDatabase, ids, cell }: Dependencies,
  { caller, idempotencyKey }: RequestContext,
  ...[draft, firstOwner]: Parameters<Create>
): ReturnType<Create> {
  assertNotAccessToken(caller);
  const owner = { name: null, email: null, ...firstOwner };
  const tenant_id = ids.next();
  const { key, ...secret } = newApiKeyRow({ ids, cell });
  return createOnce<Awaited<ReturnType<Create>>>(
    { database: systemDatabase, caller, idempotencyKey },
    {
      operation: "tenants.create",
      kind: "tenant",
      input: { ...draft, owner: firstOwner },
      async create(idempotency) {
        const newRow = { ...draft, tenant_id, owner, key: { ...secret, ...FIRST_KEY }, idempotency };
        const row = await insertTenant(systemDatabase, caller, newRow);
        if (!row) return undefined;
        const owner_key = await readOwnerKey(systemDatabase, tenant_id, { keyId: secret.key_id, key });
        return { ...renderTenant(row), owner_key };
      },
      find(tenantId) {
        throw new Fault("conflict", { retryable: false, reason: "already_made", tenant_id: tenantId });
      },
    },
  );
}

async function readOwnerKey(
  systemDatabase: Database,
  tenantId: string,
  { keyId, key }: { keyId: string; key: string },
): Promise<NewApiKey> {
  const row = await findApiKey(systemDatabase, tenantId, keyId, undefined);
  return { ...renderApiKey(row!), key };
}

const renderTenant = ({ tenant_id, suspended_at, created_at, updated_at, ...row }: TenantRow): Tenant => ({
  id: tenant_id,
  name: row.name,
  weight: row.weight,
  limits: row.limits as TenantLimits,
  retention_days: row.retention_days,
  archive_after_days: row.archive_after_days,
  provenance: row.provenance as TenantProvenance | null,
  suspended: suspended_at !== null,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

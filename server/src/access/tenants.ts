// Tenants, for the operator. The right to come here is a scope of its own, which no `*` includes.
import { createHash } from "node:crypto";
import { findKey } from "../db/keys.ts";
import { findKey as findIdempotencyKey } from "../db/runs.ts";
import { changeTenant, createTenant, findTenant, listTenants, type TenantRow } from "../db/tenants.ts";
import { Fault } from "../faults.ts";
import type { AccessAsk } from "../kit/access.ts";
import type { Limits, NewKey, Tenant } from "../kit/shapes-access.ts";
import type { Desk } from "./desk.ts";
import { newSecret, showKey } from "./keys.ts";
import { pageOf } from "./pages.ts";
import { refuseTokens } from "./rights.ts";

const FIRST_KEY = { name: "The first key", scopes: ["*"] };

export function tenantsOf(desk: Desk): AccessAsk["tenants"] {
  const { system, caller, cursors } = desk;
  const found = (row: TenantRow | undefined): Tenant => {
    if (!row) throw new Fault("route_not_found");
    return showTenant(row);
  };
  return {
    create: (draft, owner) => createOnce(desk, draft, owner),
    list: (page) =>
      pageOf(cursors, page, {
        scope: ["tenants"],
        read: (before, limit) => listTenants(system, before, limit),
        idOf: (row) => row.tenant_id,
        show: showTenant,
      }),
    get: async (tenantId) => found(await findTenant(system, tenantId)),
    async update(tenantId, change) {
      refuseTokens(caller);
      found(await findTenant(system, tenantId));
      const row = await changeTenant(system, caller, tenantId, change);
      desk.keys.forget();
      return found(row);
    },
  };
}

type Create = AccessAsk["tenants"]["create"];

async function createOnce(desk: Desk, ...[draft, person]: Parameters<Create>): ReturnType<Create> {
  const { system, caller, idempotencyKey } = desk;
  refuseTokens(caller);
  const fingerprint = createHash("sha256")
    .update(JSON.stringify(["tenants.create", draft, person]))
    .digest();
  const idempotency = idempotencyKey === undefined ? undefined : { key: idempotencyKey, fingerprint };
  const owner = { name: null, email: null, ...person };
  const tenant_id = desk.newId();
  const { key, ...secret } = newSecret(desk);
  const row = await createTenant(system, caller, {
    ...draft,
    tenant_id,
    owner,
    key: { ...secret, ...FIRST_KEY },
    idempotency,
  });
  if (row) {
    return { ...showTenant(row), owner_key: await ownerKey(desk, tenant_id, secret.key_id, key) };
  }
  const known = await findIdempotencyKey(system, caller.tenant_id, idempotency!.key);
  if (known && !known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  throw new Fault("conflict", { retryable: false, reason: "already_made", tenant_id: known?.run_id });
}

async function ownerKey({ system }: Desk, tenantId: string, keyId: string, key: string): Promise<NewKey> {
  const row = await findKey(system, tenantId, keyId, undefined);
  return { ...showKey(row!), key };
}

const showTenant = ({ tenant_id, suspended_at, created_at, updated_at, ...row }: TenantRow): Tenant => ({
  id: tenant_id,
  name: row.name,
  weight: row.weight,
  limits: row.limits as Limits,
  retention_days: row.retention_days,
  suspended: suspended_at !== null,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

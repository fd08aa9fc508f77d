import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { newApiKeyRow, renderApiKey } from "../../access/keys.ts";
import { renderTenant } from "../../access/tenants.ts";
import {
  memberEmail,
  memberName,
  NewTenant,
  retentionDays,
  TenantLimits,
  tenantName,
  userId,
  weight,
} from "../../contract/schemas/access.ts";
import { findApiKey } from "../../db/access/api-keys.ts";
import { insertTenant } from "../../db/access/tenants.ts";
import { Fault } from "../../faults/faults.ts";
import { createOnce } from "../../idempotency/create-once.ts";
import { defineQuery } from "../define-query.ts";

const FIRST_KEY = { name: "The first key", scopes: ["*"] };

type Needs = Pick<AccessDependencies, "systemDatabase" | "ids" | "cell">;

export const createTenant = defineQuery({
  name: "tenants.create",
  summary: "Create a tenant with its first owner and a key. Only this response contains the key (operator)",
  http: { method: "POST", path: "/tenants", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    name: tenantName(),
    weight: weight().default(1),
    limits: TenantLimits.describe("Limits of the tenant, for all its keys together").default({}),
    retention_days: retentionDays().default(null),
    owner_id: userId("User ID of the first owner. Default: owner").default("owner"),
    owner_name: memberName().default(null),
    owner_email: memberEmail().default(null),
  }),
  output: NewTenant,
  example: { name: "Acme", owner_id: "ada", limits: { spend_per_month: 500 } },
  // A repeated request is a conflict, because the key of the owner is returned once.
  async handle({ owner_id, owner_name, owner_email, ...draft }, { caller, idempotencyKey }, services: Needs) {
    assertNotAccessToken(caller);
    const { systemDatabase } = services;
    const owner = { user_id: owner_id, name: owner_name, email: owner_email };
    const tenant_id = services.ids.next();
    const { key, ...secret } = newApiKeyRow(services);
    return createOnce<NewTenant>(
      { database: systemDatabase, caller, idempotencyKey },
      {
        operation: "tenants.create",
        kind: "tenant",
        input: { ...draft, owner },
        async create(idempotency) {
          const newRow = { ...draft, tenant_id, owner, key: { ...secret, ...FIRST_KEY }, idempotency };
          const row = await insertTenant(systemDatabase, caller, newRow);
          if (!row) return undefined;
          const keyRow = await findApiKey(systemDatabase, tenant_id, secret.key_id, undefined);
          return { ...renderTenant(row), owner_key: { ...renderApiKey(keyRow!), key } };
        },
        find(tenantId) {
          throw new Fault("conflict", { retryable: false, reason: "already_made", tenant_id: tenantId });
        },
      },
    );
  },
});

import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import {
  memberEmail,
  memberName,
  NewTenant,
  retentionDays,
  TenantLimits,
  tenantName,
  userId,
  weight,
} from "../../kit/schemas/access.ts";

export const createTenant = defineOperation({
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
  respond: ({ owner_id, owner_name, owner_email, ...draft }, services) =>
    services.tenants.create(draft, { user_id: owner_id, name: owner_name, email: owner_email }),
});

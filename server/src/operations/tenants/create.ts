import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import {
  limits,
  NewTenant,
  personEmail,
  personName,
  retentionDays,
  tenantName,
  userId,
  weight,
} from "../../kit/shapes-access.ts";

export const createTenant = defineOperation({
  name: "tenants.create",
  summary: "Make a tenant with its first owner and a key for them, shown in this answer only (operator)",
  http: { method: "POST", path: "/tenants", bodies: ["json"], status: 201 },
  input: z.object({
    name: tenantName(),
    weight: weight().default(1),
    limits: limits("What all its keys together may use").default({}),
    retention_days: retentionDays().default(null),
    owner_id: userId("Its first owner").default("owner"),
    owner_name: personName().default(null),
    owner_email: personEmail().default(null),
  }),
  output: NewTenant,
  example: { name: "Acme", owner_id: "ada", limits: { spend_per_month: 500 } },
  answer: ({ owner_id, owner_name, owner_email, ...draft }, ask) =>
    ask.tenants.create(draft, { user_id: owner_id, name: owner_name, email: owner_email }),
});

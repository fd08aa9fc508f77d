// Audit entries of operators about a tenant. They are in the log of that tenant and name the operator's own tenant.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const INSERT = statement(
  "operator_entries.insert",
  `insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
   select tenant_id, :actor_user_id, :actor_key_id?::uuid, :action, :subject,
     jsonb_build_object('by_tenant', :actor_tenant_id::uuid)
   from tenants where tenant_id = :tenant_id returning entry`,
);

/** Records that an operator read something of a tenant. */
export async function insertOperatorEntry(
  db: Database,
  actor: Actor,
  entry: { tenant_id: string; action: string; subject: string },
): Promise<void> {
  await db.execute(INSERT, { ...actorParameters(actor), actor_tenant_id: actor.tenant_id, ...entry });
}

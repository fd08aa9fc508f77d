// Audit entries about an operator who reads content of tenants: one in the log of each tenant, and one in that of the
// operator, so that neither depends on the other to be seen. Both have the reason.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const INSERT = statement(
  "disclosures.insert",
  `insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
   select tenant_id, :actor_user_id, :actor_key_id?::uuid, :action, :subject, details from (
     select tenant_id, jsonb_build_object('by_tenant', :actor_tenant_id::uuid, 'reason', :reason::text) as details
     from tenants where tenant_id = any(:tenant_ids::uuid[]) and tenant_id <> :actor_tenant_id::uuid
     union all
     select :actor_tenant_id::uuid,
       jsonb_build_object('of_tenants', to_jsonb(:tenant_ids::uuid[]), 'reason', :reason::text)
   ) as entries order by tenant_id`,
);

type Disclosure = { action: string; subject: string; reason: string; tenantIds: string[] };

/** Records that an operator reads content of these tenants. Without any, only the operator's own log has an entry. */
export async function insertDisclosure(db: Database, actor: Actor, { tenantIds, ...entry }: Disclosure): Promise<void> {
  const actors = { ...actorParameters(actor), actor_tenant_id: actor.tenant_id };
  await db.execute(INSERT, { ...actors, ...entry, tenant_ids: tenantIds });
}

// What operators have paused: providers that get no new requests, tenants whose queued runs do not start, duties, and
// workers that drain.
// Statements that start work read the table, so a pause holds for all processes within a second.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { isRunningSql } from "./workers.ts";

export type PauseKind = "provider" | "tenant" | "duty" | "worker";
export type PauseKey = { kind: PauseKind; name: string };

const LIST = statement(
  "pauses.list",
  "select kind, name, paused_at, paused_by from pauses order by kind, name",
).columns<{
  kind: PauseKind;
}>();

export const listPauses = (db: Database) => db.execute(LIST);

/** The entry is in the log of the paused tenant; for anything else, in the operator's own. */
const insertEntrySql = (action: string) => `entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select case when kind = 'tenant' then name::uuid else :actor_tenant_id::uuid end, :actor_user_id,
       :actor_key_id?::uuid, '${action}', kind || ' ' || name, jsonb_build_object('by_tenant', :actor_tenant_id::uuid)
     from changed
   )`;

const PAUSE = statement(
  "pauses.insert",
  `with changed as (
     insert into pauses (kind, name, paused_by)
     select :kind, :name, :actor_user_id
     where case :kind when 'tenant' then exists (select from tenants where tenant_id::text = :name)
       when 'worker' then ${isRunningSql(":name")} else true end
     on conflict do nothing returning kind, name
   ), ${insertEntrySql("admin.pause")}
   select kind from changed`,
);

const RESUME = statement(
  "pauses.delete",
  `with changed as (
     delete from pauses where kind = :kind and name = :name returning kind, name
   ), ${insertEntrySql("admin.resume")}
   select kind from changed`,
);

const toParameters = (actor: Actor, { kind, name }: PauseKey) => ({
  ...{ kind, name },
  ...actorParameters(actor),
  actor_tenant_id: actor.tenant_id,
});

/**
 * A pause that exists stays as it is, without a second audit entry. A tenant or worker that does not exist is not
 * paused.
 */
export async function insertPause(db: Database, actor: Actor, key: PauseKey): Promise<void> {
  await db.execute(PAUSE, toParameters(actor, key));
}

export async function deletePause(db: Database, actor: Actor, key: PauseKey): Promise<void> {
  await db.execute(RESUME, toParameters(actor, key));
}

// The audit log of changes to keys, tokens, members, tenants, models, grants and webhooks. Entries are inserted by the
// statement that makes the change; the database numbers and chains them, and refuses to change or delete them. Entries
// outlive the tenant, so they contain ids and settings, and no names or texts of persons.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { Caller } from "./caller.ts";

export type Actor = Pick<Caller, "tenant_id" | "user_id" | "key_id">;

/** The parameters `actor_user_id` and `actor_key_id` of statements that insert an audit entry. */
export const actorParameters = ({ user_id, key_id }: Actor) => ({ actor_user_id: user_id, actor_key_id: key_id });

export type AuditEntryRow = {
  entry: number;
  at: Date;
  user_id: string;
  key_id: string | null;
  action: string;
  subject: string;
  details: JsonObject;
  digest: Buffer;
};

const INSERT = statement(
  "audit_log.insert",
  `insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
   values (:tenant_id, :actor_user_id, :actor_key_id?, :action, :subject, :details)`,
);

/** For actions that change no row of their own, such as issuing a signed token. */
export async function insertAuditEntry(
  db: Database,
  actor: Actor,
  { action, subject, details }: Pick<AuditEntryRow, "action" | "subject" | "details">,
): Promise<void> {
  await db.execute(INSERT, { tenant_id: actor.tenant_id, ...actorParameters(actor), action, subject, details });
}

const LIST = statement(
  "audit_log.list",
  `select entry, at, user_id, key_id, action, subject, details, digest from audit_log
   where tenant_id = :tenant_id and (:before?::bigint is null or entry < :before?) order by entry desc limit :limit`,
);

/** Newest first, with keyset pagination. */
export async function listAuditEntries(
  db: Database,
  tenantId: string,
  before: number | undefined,
  limit: number,
): Promise<AuditEntryRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, before, limit });
}

const FIND_TAMPERED = statement(
  "audit_log.find_tampered",
  `with archived as materialized (
     select distinct on (tenant_id) tenant_id, (details ->> 'through')::bigint as last_entry,
       decode(details ->> 'digest', 'hex') as last_digest
     from audit_log where action = 'audit_log.archive' order by tenant_id, entry desc
   )
   select tenant_id, min(entry) as entry from (
     select tenant_id, entry,
       digest <> audit_digest(audit_log, coalesce(lag(digest) over chain, last_digest)) as is_changed,
       entry <> coalesce(lag(entry) over chain, last_entry, 0) + 1 as is_torn
     from audit_log left join archived using (tenant_id)
     window chain as (partition by tenant_id order by entry)
   ) as links where is_changed or is_torn group by tenant_id order by tenant_id`,
).columns<{ entry: number }>();

/**
 * The first entry of each tenant that does not match its digest, or does not follow the entry before it. The entries
 * before the first one may be archived: the last entry about that has the digest with which they end.
 */
export async function findTamperedAuditEntries(db: Database): Promise<{ tenant_id: string; entry: number }[]> {
  return db.execute(FIND_TAMPERED);
}

// The log of every change to keys, people and tenants. Entries are written in the statement that makes the change; the
// database numbers and chains them, and lets nobody change or delete one.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import type { Caller } from "../runs/runs.ts";

export type Actor = Pick<Caller, "tenant_id" | "user_id" | "key_id">;

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

/** Newest first, by key-set. */
export async function listAuditEntries(
  db: Database,
  tenantId: string,
  before: number | undefined,
  limit: number,
): Promise<AuditEntryRow[]> {
  return db.query<AuditEntryRow>(
    "audit.list",
    `select entry, at, user_id, key_id, action, subject, details, digest from audit
     where tenant_id = $1 and ($2::bigint is null or entry < $2) order by entry desc limit $3`,
    [tenantId, before, limit],
  );
}

/** The first entry of each tenant that is not what its digest says, or does not follow the one before. */
export async function findTamperedAuditEntries(db: Database): Promise<{ tenant_id: string; entry: number }[]> {
  return db.query<{ tenant_id: string; entry: number }>(
    "audit.broken",
    `select tenant_id, min(entry) as entry from (
       select tenant_id, entry, digest <> audit_digest(audit, lag(digest) over chain) as is_changed,
         entry <> coalesce(lag(entry) over chain, 0) + 1 as is_torn
       from audit window chain as (partition by tenant_id order by entry)
     ) as links where is_changed or is_torn group by tenant_id order by tenant_id`,
  );
}

// Opens batches of audit entries for the archive. Only entries from the beginning of the log are archived, and only
// those that a checkpoint covers.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { ArchiveBatch } from "./archive-batches.ts";

/**
 * All entries up to the end of the day of the first one that is not itself about the archive: otherwise the entry of a
 * batch would be archived one period later, by a batch that leaves the next such entry, for ever.
 */
const INSERT = statement(
  "archive.insert_audit",
  `with first as (
     select entry from audit_log where tenant_id = :tenant_id order by entry limit 1
   ), due as (
     select day_of(at) as day from audit_log
     where tenant_id = :tenant_id and action <> 'audit_log.archive' and at < :before::timestamptz order by entry limit 1
   ), next as (
     select entry from audit_log, due
     where tenant_id = :tenant_id and at >= (due.day + 1)::timestamp at time zone 'UTC' order by entry limit 1
   ), last as (
     select least(first.entry + :limit::int - 1, coalesce(next.entry - 1,
       (select entry from audit_log where tenant_id = :tenant_id order by entry desc limit 1))) as entry
     from first left join next on true
   )
   insert into archive_batches (batch_id, tenant_id, kind, day, first_entry, last_entry)
   select :batch_id, :tenant_id, 'audit', due.day, first.entry, last.entry from first, due, last
   where exists (select from audit_checkpoints
     where audit_checkpoints.tenant_id = :tenant_id and audit_checkpoints.entry >= last.entry)
   on conflict do nothing
   returning batch_id, tenant_id, to_char(day, 'YYYY-MM-DD') as day`,
).columns<{ day: string }>();

type AuditRange = { tenant_id: string; batch_id: string; before: Date; limit: number };

/** Undefined if no entry is due. */
export async function openAuditBatch(db: Database, range: AuditRange): Promise<ArchiveBatch | undefined> {
  const [row] = await db.execute(INSERT, range);
  return row && { ...row, kind: "audit" };
}

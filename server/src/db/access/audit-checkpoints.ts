// The rows of audit checkpoints: what the log was at a time, in numbered rows that the head authenticates.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type AuditHeadRow = { number: number; digest: Buffer; key_id: string | null; mac: Buffer | null };
export type AuditCheckpointRow = { number: number; tenant_id: string; entry: number; entry_digest: Buffer };
/** `pending_entry` identifies the mark that the checkpoint removes: a later entry sets another one. */
export type PendingAuditChain = { tenant_id: string; pending_entry: number; entry: number; digest: Buffer };

const FIND_HEAD = statement("audit_head.find", "select number, digest, key_id, mac from audit_head");

export async function findAuditHead(db: Database): Promise<AuditHeadRow | undefined> {
  const [row] = await db.execute(FIND_HEAD);
  return row;
}

const LIST_PENDING = statement(
  "audit_pending.list",
  `select pending.tenant_id, pending.entry as pending_entry, last.entry, last.digest
   from audit_pending as pending cross join lateral (
     select entry, digest from audit_log where tenant_id = pending.tenant_id order by entry desc limit 1
   ) as last order by pending.tenant_id limit :limit`,
);

/** Tenants with entries after their last checkpoint, with their last entry. */
export async function listPendingAuditChains(db: Database, limit: number): Promise<PendingAuditChain[]> {
  return db.execute(LIST_PENDING, { limit });
}

const MARK_UNCOVERED = statement(
  "audit_pending.mark_uncovered",
  `insert into audit_pending (tenant_id, entry)
   select tenant_id, entry from (select tenant_id, max(entry) as entry from audit_log group by tenant_id) as last
   where not exists (select from audit_checkpoints as covered
     where covered.tenant_id = last.tenant_id and covered.entry >= last.entry)
   on conflict do nothing`,
);

/** Marks chains without a checkpoint at their end, such as those from before checkpoints existed. */
export async function markUncoveredAuditChains(db: Database): Promise<void> {
  await db.execute(MARK_UNCOVERED);
}

const APPEND = statement(
  "audit_checkpoints.append",
  `with moved as (
     update audit_head set number = :number, digest = :digest, key_id = :key_id, mac = :mac, sealed_at = now()
     where number = :previous_number and digest = :previous_digest returning number
   ), sealed as (
     select number, tenant_id, entry, entry_digest, pending_entry
     from unnest(:numbers::bigint[], :tenant_ids::uuid[], :entries::bigint[], :entry_digests::text[],
       :pending_entries::bigint[]) as rows (number, tenant_id, entry, entry_digest, pending_entry)
   ), inserted as (
     insert into audit_checkpoints (number, tenant_id, entry, entry_digest)
     select number, tenant_id, entry, decode(entry_digest, 'hex') from sealed where exists (select from moved)
   ), cleared as (
     delete from audit_pending using sealed
     where audit_pending.tenant_id = sealed.tenant_id and audit_pending.entry = sealed.pending_entry
       and exists (select from moved)
   )
   select number from moved`,
);

/** Inserts the checkpoints and moves the head in one statement. False if another process has moved the head. */
export async function appendAuditCheckpoints(
  db: Database,
  previous: Pick<AuditHeadRow, "number" | "digest">,
  head: { number: number; digest: Buffer; key_id: string; mac: Buffer },
  checkpoints: (AuditCheckpointRow & { pending_entry: number })[],
): Promise<boolean> {
  const rows = await db.execute(APPEND, {
    ...{ previous_number: previous.number, previous_digest: previous.digest },
    ...{ number: head.number, digest: head.digest, key_id: head.key_id, mac: head.mac },
    numbers: checkpoints.map(({ number }) => number),
    tenant_ids: checkpoints.map(({ tenant_id }) => tenant_id),
    entries: checkpoints.map(({ entry }) => entry),
    entry_digests: checkpoints.map(({ entry_digest }) => entry_digest.toString("hex")),
    pending_entries: checkpoints.map(({ pending_entry }) => pending_entry),
  });
  return rows.length > 0;
}

const LIST = statement(
  "audit_checkpoints.list",
  `select number, tenant_id, entry, entry_digest,
     (select digest from audit_log where audit_log.tenant_id = audit_checkpoints.tenant_id
       and audit_log.entry = audit_checkpoints.entry) as current_digest,
     exists (select from tenant_deletions join audit_log on audit_log.tenant_id = tenant_deletions.operator_tenant_id
       where deleted_tenant_id = audit_checkpoints.tenant_id and state in ('deleting', 'completed')
         and action = 'tenants.delete' and subject = deleted_tenant_id::text) as is_tenant_deleted,
     case when audit_checkpoints.entry < (select entry from audit_log
         where audit_log.tenant_id = audit_checkpoints.tenant_id order by entry limit 1)
       then exists (select from audit_log where audit_log.tenant_id = audit_checkpoints.tenant_id
         and action = 'audit_log.archive' and (details ->> 'through')::bigint >= audit_checkpoints.entry)
       else false end as is_archived
   from audit_checkpoints where number > :after order by number limit :limit`,
);

/**
 * In order, each with the digest that its entry has now; null if the entry is missing. `is_tenant_deleted`: the log was
 * deleted with its tenant, as the operator's log says. `is_archived`: the entry is in the archive, as the log says.
 */
export async function listAuditCheckpoints(
  db: Database,
  after: number,
  limit: number,
): Promise<
  (AuditCheckpointRow & {
    current_digest: Buffer | null;
    is_tenant_deleted: boolean | null;
    is_archived: boolean | null;
  })[]
> {
  return db.execute(LIST, { after, limit });
}

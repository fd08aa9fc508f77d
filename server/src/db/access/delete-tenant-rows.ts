// Deletes the rows of a tenant in batches. Each statement also adds what it deleted to the row of the deletion, so the
// counts are exact after any number of crashes. Statements scan tables that have no index by tenant, so they are
// executed on connections with a long statement timeout.
import type { Database } from "../connect.ts";
import { statement, statementVariants } from "../statement.ts";
import { DELIVERY_TABLES, RUN_TABLES, TENANT_CONDITIONS } from "./tenant-tables.ts";

/** Runs and deliveries in one statement. */
const PARENT_BATCH = 500;
const ROW_BATCH = 5000;

/** The engine forgets an invocation an hour after its end; the second hour is margin. */
const ENGINE_RETENTION = "interval '2 hours'";

/** A CTE that adds counts to the deletion. `counts` and `ledger` are SQL expressions for objects of numbers. */
const countSql = (counts: string, ledger = "'{}'::jsonb") => `counted as (
     update tenant_deletions set deleted_rows = add_counts(deleted_rows, ${counts}), ledger = add_counts(ledger, ${ledger})
     where deleted_tenant_id = :tenant_id and state = 'deleting'
   )`;

/** Sums of the deleted transfers by their accounts, such as `reserved_to_spent`. */
const ledgerSumsSql = (transfers: string) => `(
       select coalesce(jsonb_object_agg(accounts, amount), '{}') from (
         select from_account || '_to_' || to_account as accounts, sum(amount) as amount from ${transfers} group by 1
       ) as sums)`;

export type ParentBatch = { ids: string[]; recentIds: string[] };
type ParentRow = { id: string; is_recent: boolean };

const LIST_RUNS = statement(
  "tenant_deletion.list_runs",
  `select run_id as id, finished_at > now() - ${ENGINE_RETENTION} as is_recent from runs
   where tenant_id = :tenant_id order by run_id desc limit :limit`,
).columns<{ is_recent: boolean }>();

/** `recentIds`: those that the engine may still know. */
export const listRunsToDelete = async (db: Database, tenantId: string): Promise<ParentBatch> =>
  toBatch(await db.execute(LIST_RUNS, { tenant_id: tenantId, limit: PARENT_BATCH }));

const runTables = Object.entries(RUN_TABLES);
const DELETE_RUNS = statement(
  "tenant_deletion.delete_runs",
  `with ${runTables
    .map(
      ([table, key]) => `deleted_${table} as (
     delete from ${table} where ${key} = any(:run_ids::uuid[])
     returning ${table === "transfers" ? "from_account, to_account, amount" : "1"}
   )`,
    )
    .join(", ")}, ${countSql(
    `jsonb_build_object(${runTables.map(([table]) => `'${table}', (select count(*) from deleted_${table})`).join(", ")})`,
    ledgerSumsSql("deleted_transfers"),
  )}
   select count(*)::int as deleted from deleted_runs`,
).columns<{ deleted: number }>();

export async function deleteRuns(db: Database, tenantId: string, runIds: string[]): Promise<number> {
  const [row] = await db.execute(DELETE_RUNS, { tenant_id: tenantId, run_ids: runIds });
  return row!.deleted;
}

const LIST_DELIVERIES = statement(
  "tenant_deletion.list_deliveries",
  `select delivery_id as id, coalesce(finished_at > now() - ${ENGINE_RETENTION}, true) as is_recent
   from webhook_deliveries where tenant_id = :tenant_id order by delivery_id desc limit :limit`,
).columns<{ is_recent: boolean }>();

export const listDeliveriesToDelete = async (db: Database, tenantId: string): Promise<ParentBatch> =>
  toBatch(await db.execute(LIST_DELIVERIES, { tenant_id: tenantId, limit: PARENT_BATCH }));

const DELETE_DELIVERIES = statement(
  "tenant_deletion.delete_deliveries",
  `with ${DELIVERY_TABLES.map(
    (table) => `deleted_${table} as (delete from ${table} where delivery_id = any(:delivery_ids::uuid[]) returning 1)`,
  ).join(", ")}, ${countSql(
    `jsonb_build_object(${DELIVERY_TABLES.map((table) => `'${table}', (select count(*) from deleted_${table})`).join(", ")})`,
  )}
   select count(*)::int as deleted from deleted_webhook_deliveries`,
).columns<{ deleted: number }>();

export async function deleteDeliveries(db: Database, tenantId: string, deliveryIds: string[]): Promise<number> {
  const [row] = await db.execute(DELETE_DELIVERIES, { tenant_id: tenantId, delivery_ids: deliveryIds });
  return row!.deleted;
}

const toBatch = (rows: ParentRow[]): ParentBatch => ({
  ids: rows.map(({ id }) => id),
  recentIds: rows.filter(({ is_recent }) => is_recent).map(({ id }) => id),
});

/** Tables whose amounts are part of the certificate. */
const LEDGER_TABLES = ["transfers", "archived_transfers"];

const deleteRowsSql = ([table, condition]: [string, string]): [string, string] => [
  table,
  `with deleted as (
     delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit :limit))
     returning ${LEDGER_TABLES.includes(table) ? "from_account, to_account, amount" : "1"}
   ), ${countSql(
     `jsonb_build_object('${table}', (select count(*) from deleted))`,
     LEDGER_TABLES.includes(table) ? ledgerSumsSql("deleted") : undefined,
   )}
   select count(*)::int as deleted from deleted`,
];

const DELETE_ROWS = statementVariants(
  "tenant_deletion.delete_rows",
  Object.fromEntries(Object.entries(TENANT_CONDITIONS).map(deleteRowsSql)),
);

/** Deletes all rows of `TENANT_CONDITIONS`, in its order. Returns their number. */
export async function deleteTenantRows(db: Database, tenantId: string, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (const deleteRows of DELETE_ROWS.values()) {
    for (let deleted = ROW_BATCH; deleted === ROW_BATCH; total += deleted) {
      signal?.throwIfAborted();
      const [row] = await db.execute(deleteRows, { tenant_id: tenantId, limit: ROW_BATCH });
      deleted = row!.deleted ?? 0;
    }
  }
  return total;
}

const DELETE_AUDIT_LOG = statement(
  "tenant_deletion.delete_audit_log",
  `with log as materialized (
     select entries, last_digest from delete_audit_log(:tenant_id)
   ), counted as (
     update tenant_deletions set deleted_rows = add_counts(deleted_rows, jsonb_build_object('audit_log', entries)),
       audit_digest = coalesce(last_digest, audit_digest)
     from log where deleted_tenant_id = :tenant_id
   )
   select entries::int as deleted from log`,
).columns<{ deleted: number }>();

/** Deletes the audit log of the tenant as a whole, and keeps the digest of its newest entry. */
export async function deleteAuditLog(db: Database, tenantId: string): Promise<number> {
  const [row] = await db.execute(DELETE_AUDIT_LOG, { tenant_id: tenantId });
  return row!.deleted;
}

const RETIRE_LORA_NAMES = statement(
  "tenant_deletion.retire_lora_names",
  `with retired as (
     insert into lora_names (lora_name, tenant_id, owner)
     select lora_digest(lora_name), '00000000-0000-0000-0000-000000000000', '' from lora_names
     where tenant_id = :tenant_id on conflict do nothing
   ), deleted as (
     delete from lora_names where tenant_id = :tenant_id returning 1
   ), ${countSql("jsonb_build_object('lora_names', (select count(*) from deleted))")}
   select count(*)::int as deleted from deleted`,
).columns<{ deleted: number }>();

/**
 * Replaces the LoRA names of the tenant by their digests, without the tenant. The files are still on the operator's
 * machines, so no other tenant may register the names.
 */
export async function retireLoraNames(db: Database, tenantId: string): Promise<number> {
  const [row] = await db.execute(RETIRE_LORA_NAMES, { tenant_id: tenantId });
  return row!.deleted;
}

// What the comparison after a restore reads: runs, attempts, files and charges, each in pieces of a bounded number of
// rows.
import type { RunStatus } from "../../contract/schemas/run.ts";
import type { AttemptRef } from "../attempts/attempts.ts";
import type { Database } from "../connect.ts";
import { STORAGE_KEY } from "../files/asset-key.ts";
import { statement } from "../statement.ts";

/** A run that the database knows. `status` is null if the run is in the archive. */
export type KnownRun = { run_id: string; tenant_id: string; status: RunStatus | null };

const LIST_RUNS = statement(
  "compare.list_runs",
  `select run_id, tenant_id, status from runs where run_id = any(:run_ids::uuid[])
   union all
   select run_id, tenant_id, null from archived_runs where run_id = any(:run_ids::uuid[])
     and not exists (select from runs where runs.run_id = archived_runs.run_id)`,
).columns<KnownRun>();

export async function findKnownRuns(db: Database, runIds: string[]): Promise<Map<string, KnownRun>> {
  const rows = await db.execute(LIST_RUNS, { run_ids: [...new Set(runIds)] });
  return new Map(rows.map((row) => [row.run_id, row]));
}

const LIST_KEYS = statement(
  "compare.list_keys",
  `select ${STORAGE_KEY} as storage_key from assets
   where run_id = any(:run_ids::uuid[]) and ${STORAGE_KEY} = any(:keys::text[])`,
).columns<{ storage_key: string }>();

/** Those of these storage keys that have a row, also of a file that was deleted. */
export async function findKnownKeys(db: Database, runIds: string[], keys: string[]): Promise<Set<string>> {
  const rows = await db.execute(LIST_KEYS, { run_ids: [...new Set(runIds)], keys });
  return new Set(rows.map(({ storage_key }) => storage_key));
}

export type KnownAttempt = AttemptRef & { ticket: Record<string, unknown> | null };

const LIST_ATTEMPTS = statement(
  "compare.list_attempts",
  `select run_id, request_index, attempt_number, ticket from attempts
   where run_id = any(:run_ids::uuid[]) and provider = :provider`,
).columns<KnownAttempt>();

export async function listKnownAttempts(db: Database, provider: string, runIds: string[]): Promise<KnownAttempt[]> {
  return db.execute(LIST_ATTEMPTS, { provider, run_ids: [...new Set(runIds)] });
}

/** `after`: the last row of the piece before, or `FIRST_ID`. */
type ComparedPiece = { since: Date; after: string; limit: number };

const LIST_ASSETS = statement(
  "compare.list_assets",
  `select asset_id, assets.run_id, assets.tenant_id, ${STORAGE_KEY} as storage_key, size_bytes, runs.status
   from assets join runs on runs.run_id = assets.run_id
   where asset_id > greatest(:after::uuid, uuid_floor(:since)) and assets.deleted_at is null
   order by asset_id limit :limit`,
).columns<{ storage_key: string }>();

/** Files of runs that were accepted since then, in the order of their ids. */
export async function listAssetsSince(db: Database, { since, after, limit }: ComparedPiece) {
  return db.execute(LIST_ASSETS, { since, after, limit });
}

const LIST_CHARGES = statement(
  "compare.list_charges",
  `select run_id, runs.tenant_id, status, coalesce((cost ->> 'amount')::float, 0) as expected,
     coalesce(settled.amount, 0) / 1e6::float as charged
   from runs left join transfers as settled on settled.cause_id = run_id and settled.kind = 'settle'
   where run_id > greatest(:after::uuid, uuid_floor(:since))
     and not exists (select from archived_runs where archived_runs.run_id = runs.run_id)
   order by run_id limit :limit`,
).columns<{ status: RunStatus; expected: number; charged: number }>();

/** What runs that were accepted since then cost, and what the ledger has, in US dollars. */
export async function listChargesSince(db: Database, { since, after, limit }: ComparedPiece) {
  return db.execute(LIST_CHARGES, { since, after, limit });
}

// Ended runs of the past with everything that belongs to them, and without what has expired: events, deliveries, files.
import { v7 } from "uuid";
import type { Database } from "../../src/db/connect.ts";
import type { ObjectStorage } from "../../src/files/storage/object-storage.ts";
import { indexRuns } from "../../src/runs/upkeep/index-runs.ts";
import { sumUsageOfEndedRuns } from "../../src/runs/upkeep/sum-usage.ts";
import { createTestRuntime, TEST_RUN_SETTINGS } from "./test-runtime.ts";

export type PastRun = {
  run_id: string;
  tenant_id: string;
  /** In milliseconds. */
  created_at: number;
  status: "completed" | "failed";
  prompt: string;
  /** In micro-dollars: what is charged of a reservation of twice as much. */
  cost: number;
  parent_run_id: string | null;
  root_run_id: string;
  depth: number;
};

export function createPastRun(
  given: { tenant_id: string; created_at: number } & Partial<Pick<PastRun, "status" | "prompt" | "cost">>,
  parent?: PastRun,
): PastRun {
  const run_id = v7({ msecs: given.created_at });
  return {
    ...{ run_id, status: "completed", prompt: "a harbour", cost: 40_000, ...given },
    ...{
      parent_run_id: parent?.run_id ?? null,
      root_run_id: parent?.root_run_id ?? run_id,
      depth: (parent?.depth ?? 0) + 1,
    },
  };
}

const GIVEN = `jsonb_to_recordset($1::jsonb) as given (run_id uuid, tenant_id uuid, created_at timestamptz, status text,
  prompt text, cost bigint, parent_run_id uuid, root_run_id uuid, depth smallint)`;

const INSERTS = {
  runs: `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, parent_run_id, root_run_id,
      depth, inputs, plan, model, provider, result, error, cost, created_at, started_at, finished_at)
    select run_id, tenant_id, 'user', 'images.generate', 'image-generation', status, (status = 'completed')::int,
      parent_run_id, root_run_id, depth, jsonb_build_object('prompt', prompt), '[]', 'flux-dev', 'sandbox',
      case when status = 'completed' then '{"outputs": []}'::jsonb end,
      case when status = 'failed' then '{"code": "provider_failed", "message": "x"}'::jsonb end,
      case when status = 'completed' then jsonb_build_object('amount', cost / 1000000.0, 'currency', 'USD') end,
      created_at, created_at, created_at
    from ${GIVEN} order by depth, run_id`,
  unsuccessful: `insert into unsuccessful_runs (tenant_id, status, run_id)
    select tenant_id, status, run_id from ${GIVEN} where status = 'failed'`,
  requests: `insert into planned_requests (run_id, request_index, provider, model, upstream, output, finished_at)
    select run_id, 0, 'sandbox', 'flux-dev', 'flux-dev', '{"files": []}', created_at from ${GIVEN}`,
  attempts: `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, upstream, state,
      price, created_at, finished_at)
    select run_id, 0, 1, run_id || '.0.1', 0, 'sandbox', 'flux-dev',
      case when status = 'completed' then 'succeeded' else 'failed' end, cost, created_at, created_at from ${GIVEN}`,
  assets: `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes,
      sha256, created_at, deleted_at)
    select run_id, run_id, tenant_id, 'output', 't/' || tenant_id || '/r/' || run_id || '/x', 'image/png', 64, 64, 100,
      'x', created_at, created_at from ${GIVEN}`,
  transfers: `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount, created_at)
    select run_id, kind, tenant_id, from_account, to_account, moves.amount, created_at
    from ${GIVEN} cross join lateral (values
      ('reserve', 'available', 'reserved', 2 * cost), ('settle', 'reserved', 'spent', cost),
      ('release', 'reserved', 'available', cost)) as moves (kind, from_account, to_account, amount)
    where status = 'completed'
    union all
    select run_id, kind, tenant_id, from_account, to_account, 2 * cost, created_at
    from ${GIVEN}, (values ('reserve', 'available', 'reserved'), ('release', 'reserved', 'available'))
      as moves (kind, from_account, to_account) where status = 'failed'`,
};

/** `owner` is connected as the owner of the tables. The tenants are prepaid; a parent comes before its children. */
export async function insertPastRuns(owner: Database, runs: PastRun[]): Promise<void> {
  const rows = runs.map((run) => ({ ...run, created_at: new Date(run.created_at).toISOString() }));
  // A trigger looks the parent up, and sees only what earlier statements inserted.
  for (const depth of new Set(rows.map((row) => row.depth).sort((one, other) => one - other)))
    await owner.query("past.runs", INSERTS.runs, [JSON.stringify(rows.filter((row) => row.depth === depth))]);
  const { runs: _, ...others } = INSERTS;
  for (const [name, text] of Object.entries(others)) await owner.query(`past.${name}`, text, [JSON.stringify(rows)]);
}

/** A prepaid tenant, whose balance is what the runs leave of its top-up. */
export async function insertPrepaidTenant(owner: Database, tenant_id: string, runs: PastRun[]): Promise<void> {
  const spent = runs
    .filter((run) => run.tenant_id === tenant_id && run.status === "completed")
    .reduce((sum, { cost }) => sum + cost, 0);
  await owner.query("past.tenant", "insert into tenants (tenant_id, name) values ($1, 'x') on conflict do nothing", [
    tenant_id,
  ]);
  await owner.query(
    "past.topup",
    `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     values ($1, 'topup', $2, 'outside', 'available', $3)`,
    [v7(), tenant_id, spent + 1_000_000],
  );
  await owner.query(
    "past.budget",
    "insert into budgets (tenant_id, is_prepaid, available) values ($1, true, 1000000)",
    [tenant_id],
  );
}

/** Lets the duties of the index and of usage reach all runs. Runs that they have not reached are not archived. */
export async function indexPastRuns(database: Database): Promise<void> {
  const services = { ...createTestRuntime(), database, settings: TEST_RUN_SETTINGS };
  while (await sumUsageOfEndedRuns(services));
  while (await indexRuns(services));
}

/** Keys of all stored objects below a prefix. */
export async function listKeys(storage: ObjectStorage, prefix = "t/"): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list(prefix)) keys.push(key);
  return keys;
}

/** Sums of the entries by tenant and account, from what PostgreSQL has. */
export const sumEntries = (owner: Database) =>
  owner.query<{ tenant_id: string; account: string; amount: number }>(
    "past.entries",
    `select tenant_id, account, sum(amount)::bigint as amount from entries group by 1, 2 order by 1, 2`,
  );

// The record of runs: accepting one, reading it, listing. Every read and write is scoped by tenant.
import { Fault, type PublicFault } from "../../faults.ts";
import type { Job } from "../../kit/operation.ts";
import type { JsonObject, RunStatus } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import { type BudgetLimitKind, budgetHolders, toBudgetFault } from "../money/budgets.ts";
import type { SealedSecret } from "../webhooks/secrets.ts";

/** Whose something is. */
export type ResourceOwner = { tenant_id: string; user_id: string };

export type Role = "owner" | "developer" | "viewer";

/** Who asks, with which credential, and what that credential may do. */
export type Caller = ResourceOwner & {
  /** Null where no key of ours stands behind the credential. */
  key_id: string | null;
  role: Role;
  scopes: readonly string[];
  /** What the key may use; figures that are not set are not limited here. */
  limits: JsonObject;
  /** When the credential ends by itself. */
  expires_at: Date | null;
  tenant: { weight: number; limits: JsonObject };
  /** Set where a token that we minted speaks for the key. `max_spend` is in US dollars. */
  token: { token_id: string; max_spend: number | null } | null;
};

/** A file as a run's result lists it. It never changes, so a run is shown without looking anything else up. */
export type StoredAsset = {
  asset_id: string;
  media_type: string;
  width: number;
  height: number;
  size_bytes: number;
  sha256: string;
  role: string;
  name?: string;
  score?: number;
  box?: { x: number; y: number; width: number; height: number };
  duration?: number;
  fps?: number;
};

/** `jobs` are the files of every job of the plan; `outputs`, those of the last. */
export type StoredRunResult = { outputs: StoredAsset[]; jobs?: StoredAsset[][]; data?: JsonObject | null };

export type RunRow = ResourceOwner & {
  run_id: string;
  operation: string;
  run_type: string;
  status: RunStatus;
  progress: number;
  phase: string | null;
  parent_run_id: string | null;
  root_run_id: string;
  depth: number;
  inputs: JsonObject;
  plan: Job[];
  metadata: JsonObject;
  webhook_url: string | null;
  model: string | null;
  provider: string | null;
  result: StoredRunResult | null;
  error: PublicFault | null;
  cost: { amount: number; currency: "USD" } | null;
  warnings: string[];
  cancel_requested_at: Date | null;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  expires_at: Date | null;
  deleted_at: Date | null;
};

export type OpenRunLimits = { tenant?: number | undefined; key?: number | undefined };

/** What the end of a run is signed with, and how many days it is kept. */
export type RunWebhookSecret = SealedSecret & { keptDays: number };

export type NewRun = ResourceOwner &
  Pick<
    RunRow,
    "run_id" | "operation" | "run_type" | "inputs" | "plan" | "metadata" | "warnings" | "root_run_id" | "depth"
  > & {
    parent_run_id?: string | undefined;
    webhook_url?: string | undefined;
    webhook_secret?: RunWebhookSecret | undefined;
    model?: string | undefined;
    provider?: string | undefined;
    /** Other runs that its pictures come from, beside the parent. */
    references?: string[];
    /** Which provider it waits for. */
    lane: string;
    deadlineSeconds: number;
    idempotency?: { key: string; fingerprint: Buffer } | undefined;
    event_id: string;
    key_id?: string | null | undefined;
    token_id?: string | undefined;
    /** What it is expected to cost, in micro-dollars; nothing where that is not known. */
    estimate?: number | null;
    /** How many runs its tenant and its key may have open; as many as they like where nothing is said. */
    mostOpen?: OpenRunLimits | undefined;
  };

/**
 * Inserts the run, its idempotency key, queue entry, event and reservation in one statement. Returns undefined if another
 * request holds the idempotency key. Throws if a budget or the limit of open runs is exceeded.
 */
export async function insertRun(db: Database, run: NewRun): Promise<RunRow | undefined> {
  const [row] = await db.query<RunRow & AdmissionResult>("runs.accept", INSERT_RUN, [
    ...[run.run_id, run.tenant_id, run.user_id, run.operation, run.run_type, run.inputs, JSON.stringify(run.plan)],
    ...[run.metadata, JSON.stringify(run.warnings), run.parent_run_id, run.root_run_id, run.depth, run.webhook_url],
    ...[run.idempotency?.key, run.idempotency?.fingerprint, run.model, run.provider],
    ...[run.lane, run.deadlineSeconds, run.event_id, run.references ?? []],
    ...[run.estimate, budgetHolders(run), run.key_id, run.mostOpen?.tenant, run.mostOpen?.key],
    ...secretParameters(run),
  ]);
  const { reached, reached_by, has_room, ...accepted } = row!;
  if (reached) throw toBudgetFault({ reached, reached_by, amount: run.estimate ?? null }, run);
  if (!has_room) throw new Fault("concurrency_limit_reached", { limits: run.mostOpen });
  return accepted.run_id ? accepted : undefined;
}

const secretParameters = ({ webhook_secret: secret }: NewRun) => [
  ...[secret?.secret_id, secret?.key_id, secret?.sealed, secret?.keptDays],
];

/** `$n` is the first of `secretValues`. */
const insertSecretSql = (first: number) => `sealed as (
    insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed, ends_at)
    select tenant_id, run_id, $${first}, $${first + 1}, $${first + 2}, now() + make_interval(days => $${first + 3})
    from accepted where $${first}::uuid is not null
  )`;

type AdmissionResult = { reached: BudgetLimitKind | null; reached_by: string; has_room: boolean };

/** A tenant without limits has no row among the budgets, and is not judged at all. */
const INSERT_RUN = `
  with verdict as materialized (
    select (judged).*, has_room from (
      select coalesce($25::int, $26::int) is null or may_open($2, $25, $24, $26) as has_room,
        case when $22::bigint is distinct from 0 and exists (
          select from budgets where tenant_id = $2 and holder_id = any($23::uuid[]) and is_limited)
        then judge_budget($2, $23::uuid[], $22::bigint) end as judged
      offset 0
    ) as once
  ), key as (
    insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
    select $2, $14, $15, $1 from verdict where reached is null and has_room and $14::text is not null
    on conflict do nothing returning run_id
  ), accepted as (
    insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, metadata, warnings,
                      parent_run_id, root_run_id, depth, webhook_url, model, provider, key_id)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $16, $17, $24
    from verdict where reached is null and has_room and ($14::text is null or exists (select from key))
    returning *
  ), queued as (
    insert into open_runs (run_id, tenant_id, lane, key_id, deadline_at, reserved, held_from, holders)
    select run_id, tenant_id, $18, key_id, now() + make_interval(secs => $19), $22::bigint,
      case when from_balance then 'available' else 'credit' end,
      case when holders is not null then take_budget($2, holders, $22::bigint) end
    from accepted, verdict
    returning held_from
  ), referred as (
    insert into run_references (run_id, source_run_id, root_run_id)
    select run_id, source, root_run_id from accepted, unnest($21::uuid[]) as source
  ), told as (
    insert into events (run_id, event_id, tenant_id, type) select run_id, $20, tenant_id, 'run.queued' from accepted
  ), held as (
    insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
    select $1, 'reserve', $2, held_from, 'reserved', $22::bigint from queued where $22::bigint > 0
  ), ${insertSecretSql(27)}
  select reached, reached_by, has_room, accepted.* from verdict left join accepted on true`;

/** An upload is a run that has ended when it begins; its file is already in storage. */
export async function insertUploadRun(
  db: Database,
  run: NewRun & { asset: StoredAsset & { storage_key: string } },
): Promise<RunRow | undefined> {
  const { storage_key, ...kept } = run.asset;
  const [row] = await db.query<RunRow>(
    "runs.acceptUpload",
    `with key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $2, $9, $10, $1 where $9::text is not null
       on conflict do nothing returning run_id
     ), accepted as (
       insert into runs (run_id, tenant_id, user_id, operation, run_type, inputs, plan, parent_run_id, root_run_id, depth,
                         metadata, webhook_url, status, progress, result, started_at, finished_at)
       select $1, $2, $3, $4, $5, $6, '[]', $7, $8, $11, $22, $23, 'completed', 1, $12, now(), now()
       where $9::text is null or exists (select from key)
       returning *
     ), kept as (
       insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256)
       select $13, run_id, tenant_id, $14, $15, $16, $17, $18, $19, $20 from accepted
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, terminal)
       select run_id, $21, tenant_id, 'run.completed', true from accepted
     ), ${insertSecretSql(24)}
     select * from accepted`,
    [
      ...[run.run_id, run.tenant_id, run.user_id, run.operation, run.run_type, run.inputs],
      ...[run.parent_run_id, run.root_run_id, run.idempotency?.key, run.idempotency?.fingerprint, run.depth],
      ...[{ outputs: [kept] }, kept.asset_id, kept.role, storage_key, kept.media_type, kept.width, kept.height],
      ...[kept.size_bytes, kept.sha256, run.event_id, run.metadata, run.webhook_url, ...secretParameters(run)],
    ],
  );
  return row;
}

export type IdempotencyKeyRow = { fingerprint: Buffer; run_id: string };

export async function findIdempotencyKey(
  db: Database,
  tenantId: string,
  key: string,
): Promise<IdempotencyKeyRow | undefined> {
  const [row] = await db.query<IdempotencyKeyRow>(
    "runs.findKey",
    "select fingerprint, run_id from idempotency_keys where tenant_id = $1 and key = $2",
    [tenantId, key],
  );
  return row;
}

export async function findRuns(db: Database, tenantId: string, runIds: string[]): Promise<RunRow[]> {
  return db.query<RunRow>("runs.find", "select * from runs where run_id = any($2::uuid[]) and tenant_id = $1", [
    tenantId,
    runIds,
  ]);
}

export async function findRun(db: Database, tenantId: string, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.query<RunRow>("runs.findOne", "select * from runs where run_id = $2 and tenant_id = $1", [
    tenantId,
    runId,
  ]);
  return row;
}

/** Which of these runs have ended, whoever's they are: for those who wait for them. */
export async function listEndedRuns(db: Database, runIds: string[]): Promise<string[]> {
  const rows = await db.query<{ run_id: string }>(
    "runs.ended",
    "select run_id from runs where run_id = any($1::uuid[]) and finished_at is not null",
    [runIds],
  );
  return rows.map((row) => row.run_id);
}

export type RunListFilter = {
  before?: string | undefined;
  status?: string | undefined;
  run_type?: string | undefined;
  parent_run_id?: string | undefined;
  created_after?: string | undefined;
};

/** Where the runs of a state are found without meeting all the others. */
const STATUS_TABLES: Record<string, string> = {
  queued: "open_runs join runs using (run_id, tenant_id)",
  processing: "open_runs join runs using (run_id, tenant_id)",
  failed: "ended_badly join runs using (run_id, tenant_id, status)",
  canceled: "ended_badly join runs using (run_id, tenant_id, status)",
};

/** Newest first, by key-set: the cost of a page does not grow with how far back it is. */
export async function listRunRows(
  db: Database,
  tenantId: string,
  filter: RunListFilter,
  limit: number,
): Promise<RunRow[]> {
  const conditions: Record<string, string> = {
    before: "run_id < ?",
    status: "status = ?",
    run_type: "run_type = ?",
    parent_run_id: "parent_run_id = ?",
    // In milliseconds, as callers are told it. A run has its name a little before it is accepted.
    created_after: `run_id >= uuid_floor(?::timestamptz - interval '1 hour')
      and date_trunc('milliseconds', created_at) > ?::timestamptz`,
  };
  const from = STATUS_TABLES[filter.status ?? ""] ?? "runs";
  const values: unknown[] = [tenantId, limit];
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = asked.map(([field, value]) => {
    values.push(value);
    return ` and ${conditions[field]!.replaceAll("?", `$${values.length}`)}`;
  });
  // Each set of filters is its own statement, so that each has its own plan.
  return db.query<RunRow>(
    `runs.list.${from.split(" ")[0]}.${asked.map(([field]) => field).join(".")}`,
    `select runs.* from ${from}
     where tenant_id = $1 and deleted_at is null${clauses.join("")} order by run_id desc limit $2`,
    values,
  );
}

/**
 * Replaces the run by a tombstone: ids, lineage and status stay; inputs, plan, metadata and webhook are cleared. Its assets are
 * marked deleted and their bytes removed through the outbox. Pending webhook deliveries are dropped.
 */
export async function tombstoneRun(db: Database, tenantId: string, runId: string, outboxId: string): Promise<boolean> {
  const rows = await db.query(
    "runs.delete",
    `with stone as (
       update runs set deleted_at = now(), inputs = '{}', plan = '[]', metadata = '{}', webhook_url = null
       where run_id = $2 and tenant_id = $1 and deleted_at is null and finished_at is not null
       returning run_id
     ), files as (
       update assets set deleted_at = now()
       where run_id = $2 and tenant_id = $1 and deleted_at is null and exists (select from stone)
       returning storage_key
     ), work as (
       insert into outbox (outbox_id, kind, payload)
       select $3, 'delete_files', jsonb_build_object('keys', jsonb_agg(storage_key)) from files having count(*) > 0
     ), unsent as (
       delete from open_deliveries where run_id = $2 and tenant_id = $1 and exists (select from stone)
     ), untold as (
       update webhook_deliveries set body = null, next_attempt_at = null, finished_at = coalesce(finished_at, now()),
         status = case when status = 'pending' then 'dropped' else status end
       where run_id = $2 and tenant_id = $1 and exists (select from stone)
     ), unsigned as (
       delete from webhook_secrets where tenant_id = $1 and owner_id = $2 and exists (select from stone)
     )
     select run_id from stone`,
    [tenantId, runId, outboxId],
  );
  return rows.length > 0;
}

// Accepts runs: the run, its idempotency key, queue entry, event and reservation are inserted in one statement, in
// which the limits of its tenant decide. Runs of one caller that are accepted at the same time share a statement.
import { Fault } from "../../faults/faults.ts";
import type { ResourceOwner } from "../access/caller.ts";
import type { Database } from "../connect.ts";
import { HAS_FREE_STORAGE, type StorageLimits, storageParameters, toStorageFault } from "../files/storage-usage.ts";
import { gather } from "../gather.ts";
import type { NewIdempotencyKey } from "../idempotency-keys.ts";
import { attributedHolders, templateOf } from "../money/attributed-holders.ts";
import { type BudgetLimitKind, budgetHolders, describeLimitOwner, toBudgetFault } from "../money/budgets.ts";
import { statement } from "../statement.ts";
import type { SealedSecret } from "../webhooks/secrets.ts";
import type { RunRow } from "./runs.ts";

/** `parents`: of keys above the caller's that have such a limit. */
export type OpenRunLimits = {
  tenant?: number | undefined;
  key?: number | undefined;
  parents?: { holder_id: string; max: number }[];
};

/** What the end of a run is signed with, and how many days it is kept. */
export type RunWebhookSecret = SealedSecret & { retentionDays: number };

export type NewRun = ResourceOwner &
  Pick<
    RunRow,
    "run_id" | "operation" | "run_type" | "inputs" | "plan" | "metadata" | "warnings" | "root_run_id" | "depth"
  > & {
    given_fields?: string[];
    parent_run_id?: string | undefined;
    end_user?: string | null | undefined;
    customer?: string | null | undefined;
    cost_tags?: string[] | null | undefined;
    webhook_url?: string | undefined;
    webhook_secret?: RunWebhookSecret | undefined;
    model?: string | undefined;
    provider?: string | undefined;
    /** The schema that its input was checked with, if an imported model does the work. */
    schema_hash?: string | undefined;
    /** Other runs that its source images come from, beside the parent. */
    references?: string[];
    /** Which provider it waits for. */
    lane: string;
    deadlineSeconds: number;
    idempotency?: NewIdempotencyKey | undefined;
    event_id: string;
    key_id?: string | null | undefined;
    /** The key and the keys above it, whose limits count the run; the key last. Default: the key. */
    key_holders?: string[] | undefined;
    token_id?: string | undefined;
    /** What it is expected to cost, in micro-dollars; null if unknown. */
    estimate?: number | null;
    /** How many runs its tenant and its key may have open. Default: any number. */
    openRunLimits?: OpenRunLimits | undefined;
    storageLimits?: StorageLimits | undefined;
    /** The span that accepted it. Undefined if the request is not traced. */
    traceparent?: string | undefined;
  };

/** The columns of `runs` that a request decides, with their types. A new one is named here and in `NewRun`. */
const RUN_COLUMNS = {
  ...{ run_id: "uuid", user_id: "text", end_user: "text", operation: "text", run_type: "text", inputs: "jsonb" },
  ...{ given_fields: "text[]", plan: "jsonb", metadata: "jsonb", warnings: "jsonb", parent_run_id: "uuid" },
  ...{ root_run_id: "uuid", depth: "smallint", webhook_url: "text", model: "text", provider: "text" },
  ...{ traceparent: "text", schema_hash: "text", customer: "text", cost_tags: "text[]" },
} as const satisfies Partial<Record<keyof NewRun, string>>;

/** What goes into other tables. */
const OTHER_COLUMNS = {
  ...{ lane: "text", deadline_seconds: "float", event_id: "uuid", estimate: "bigint", source_run_ids: "uuid[]" },
  ...{ attributed_holders: "uuid[]" },
  ...{ idempotency_key: "text", fingerprint: "bytea" },
  ...{ secret_id: "uuid", secret_key_id: "text", sealed_secret: "bytea", secret_days: "int" },
} as const;

type RunColumn = keyof typeof RUN_COLUMNS;
const RUN_COLUMN_NAMES = Object.keys(RUN_COLUMNS) as RunColumn[];
const GIVEN_COLUMNS = { ...RUN_COLUMNS, ...OTHER_COLUMNS };
const namesSql = (columns: object) => Object.keys(columns).join(", ");
const typesSql = Object.entries(GIVEN_COLUMNS)
  .map(([name, type]) => `${name} ${type}`)
  .join(", ");

/**
 * `admission` decides for all runs of the statement: the limit of open runs, the storage quota, and the budgets. A
 * tenant without limits has no row in `budgets`, and its budgets are not checked. Keys are inserted in their order, so
 * that two statements with the same keys do not deadlock.
 */
const INSERT = statement(
  "runs.accept",
  `with given as (
     select ${namesSql(GIVEN_COLUMNS)} from jsonb_to_recordset(:runs::jsonb) as given (${typesSql})
   ), admission as materialized (
     select (budget_check).reached, (budget_check).reached_by, (budget_check).from_balance, (budget_check).holders,
       open_limit_of, has_free_storage
     from (
       select case when :tenant_open_limit?::int is not null or :open_limit_holders::uuid[] <> '{}' then
           reached_open_run_limit(:tenant_id, :tenant_open_limit?, :open_limit_holders::uuid[], :key_open_limits::int[])
         end as open_limit_of,
         ${HAS_FREE_STORAGE} as has_free_storage,
         case when :amount?::bigint is distinct from 0 and exists (
           select from budgets where tenant_id = :tenant_id and has_limit(budgets)
             and holder_id = any(:budget_holders::uuid[] || :new_templates::uuid[]))
         then check_attributed_budgets(:tenant_id, :budget_holders::uuid[], :amounts?::bigint[],
           :new_holders::uuid[], :new_templates::uuid[], :new_values::text[]) end as budget_check
       offset 0
     ) as once
   ), admitted as (
     select ${namesSql(GIVEN_COLUMNS)}, from_balance, holders
     from given, admission where reached is null and open_limit_of is null and has_free_storage
   ), idempotency as (
     insert into idempotency_keys (tenant_id, key, fingerprint, resource_kind, resource_id, caller_id)
     select :tenant_id, idempotency_key, fingerprint, 'run', run_id, :caller_id? from admitted
     where idempotency_key is not null order by idempotency_key
     on conflict do nothing returning resource_id
   ), accepted as (
     insert into runs (tenant_id, key_id, ${namesSql(RUN_COLUMNS)})
     select :tenant_id, :key_id?, ${namesSql(RUN_COLUMNS)}
     from admitted
     where idempotency_key is null or exists (select from idempotency where resource_id = admitted.run_id)
     returning run_id, created_at
   ), charges as (
     select holder_id, sum(estimate)::bigint as amount
     from accepted join admitted using (run_id)
     cross join lateral unnest(:common_holders::uuid[] || attributed_holders) as one (holder_id)
     where holder_id = any(holders) group by holder_id
   ), reserved as materialized (
     select reserve_attributed_budgets(:tenant_id, array_agg(holder_id), array_agg(amount)),
       array_agg(holder_id order by holder_id) as holders
     from charges having count(*) > 0
   ), queued as (
     insert into open_runs (run_id, tenant_id, lane, key_id, deadline_at, reserved, reserved_from, budget_holders)
     select run_id, :tenant_id, lane, :key_id?, now() + make_interval(secs => deadline_seconds), estimate,
       case when from_balance then 'available' else 'credit' end,
       case when estimate is distinct from 0 then case
         when :new_values::text[] = '{}' and attributed_holders is null then reserved.holders
         else array(select holder_id from unnest(reserved.holders) as one (holder_id)
           where holder_id = any(:common_holders::uuid[] || attributed_holders)) end end
     from accepted join admitted using (run_id) left join reserved on true
     returning run_id, reserved_from, reserved
   ), reference_rows as (
     insert into run_references (run_id, source_run_id, root_run_id)
     select run_id, source, root_run_id from accepted join given using (run_id), unnest(source_run_ids) as source
   ), event as (
     insert into events (run_id, event_id, tenant_id, type)
     select run_id, event_id, :tenant_id, 'run.queued' from accepted join given using (run_id)
   ), first_tags as (
     insert into run_marks (run_id, tenant_id, tags)
     select run_id, :tenant_id, cost_tags from accepted join given using (run_id) where cost_tags is not null
   ), reservation as (
     insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     select run_id, 'reserve', :tenant_id, reserved_from, 'reserved', reserved from queued where reserved > 0
   ), sealed_secrets as (
     insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed, ends_at)
     select :tenant_id, run_id, secret_id, secret_key_id, sealed_secret, now() + make_interval(days => secret_days)
     from accepted join given using (run_id) where secret_id is not null
   )
   select reached, reached_by, open_limit_of, has_free_storage, run_id, created_at
   from admission left join accepted on true`,
).columns<{
  reached: BudgetLimitKind | null;
  open_limit_of: string | null;
  has_free_storage: boolean;
}>();

/** The time at which the run was accepted. Undefined if another request holds its idempotency key. */
type Outcome = { acceptedAt: Date | undefined } | { refusal: Fault };

const accept = gather<NewRun, Outcome>({
  keyOf: ({ run_id, idempotency }) => idempotency?.key ?? run_id,
  groupOf: (run) =>
    JSON.stringify([
      run.tenant_id,
      run.key_id,
      run.key_holders,
      run.token_id,
      run.idempotency?.caller_id,
      run.openRunLimits,
      run.storageLimits,
      run.estimate == null,
    ]),
  execute: insertAll,
});

async function insertAll(db: Database, runs: NewRun[]): Promise<Outcome[]> {
  const [first] = runs as [NewRun];
  const others = runs.length - 1;
  const rows = await db.execute(INSERT, {
    tenant_id: first.tenant_id,
    key_id: first.key_id,
    caller_id: first.idempotency?.caller_id,
    ...budgetParameters(runs),
    tenant_open_limit: lessOthers(first.openRunLimits?.tenant, others),
    ...keyOpenLimitParameters(first, others),
    ...storageParameters(first.storageLimits),
    runs: JSON.stringify(runs.map(toRecord)),
  });
  const refusal = toRefusal(rows[0]!, first);
  // The limits may still have room for some of the runs, so each is decided alone.
  if (refusal && others > 0) return (await Promise.all(runs.map((run) => insertAll(db, [run])))).flat();
  if (refusal) return [{ refusal }];
  // If no run was accepted, there is one row without a run.
  const acceptedAt = new Map(rows.map(({ run_id, created_at }) => [run_id, created_at]));
  return runs.map(({ run_id }) => ({ acceptedAt: acceptedAt.get(run_id) }));
}

/** The amount of all runs, and that of every holder whose limit counts some of them. */
function budgetParameters(runs: NewRun[]) {
  const [first] = runs as [NewRun];
  const common = budgetHolders(first);
  const isUnknown = first.estimate == null;
  const amount = isUnknown ? null : runs.reduce((sum, { estimate }) => sum + estimate!, 0);
  const attributed = new Map<string, { amount: number; template: string | undefined; value: string }>();
  for (const run of runs) {
    for (const { kind, value, holder_id } of attributedHolders(run)) {
      const known = attributed.get(holder_id);
      attributed.set(holder_id, {
        ...{ template: templateOf(kind), value },
        amount: (known?.amount ?? 0) + (run.estimate ?? 0),
      });
    }
  }
  const fromTemplates = [...attributed].filter(([, { template }]) => template !== undefined);
  return {
    amount,
    common_holders: common,
    budget_holders: [...common, ...attributed.keys()],
    // Without amounts, every holder with a limit refuses an unknown price.
    amounts: isUnknown ? null : [...common.map(() => amount!), ...[...attributed.values()].map((each) => each.amount)],
    new_holders: fromTemplates.map(([holder_id]) => holder_id),
    new_templates: fromTemplates.map(([, { template }]) => template!),
    new_values: fromTemplates.map(([, { value }]) => value),
  };
}

const lessOthers = (limit: number | undefined, others: number) => (limit === undefined ? undefined : limit - others);

/** Of the key and the keys above it, as far as they have such a limit. */
function keyOpenLimitParameters({ openRunLimits, key_id, key_holders }: NewRun, others: number) {
  const { parents = [], key } = openRunLimits ?? {};
  const holder_id = key_holders?.at(-1) ?? key_id;
  const own = key !== undefined && holder_id ? [{ holder_id, max: key }] : [];
  const limits = [...parents, ...own];
  return {
    open_limit_holders: limits.map(({ holder_id }) => holder_id),
    key_open_limits: limits.map(({ max }) => max - others),
  };
}

function toRefusal(
  row: {
    reached: BudgetLimitKind | null;
    reached_by: string | null;
    open_limit_of: string | null;
    has_free_storage: boolean;
  },
  run: NewRun,
): Fault | undefined {
  if (row.reached)
    return toBudgetFault({ reached: row.reached, reached_by: row.reached_by!, amount: run.estimate ?? null }, run);
  if (row.open_limit_of !== null) {
    const { tenant, key } = run.openRunLimits ?? {};
    const owner = describeLimitOwner(row.open_limit_of, run);
    return new Fault("concurrency_limit_reached", { limits: { tenant, key }, ...owner });
  }
  if (!row.has_free_storage) return toStorageFault(run.storageLimits);
}

const hex = (bytes: Uint8Array | undefined) => bytes && `\\x${Buffer.from(bytes).toString("hex")}`;

/** The values of these columns; what the request does not decide is null. */
type InsertedColumns = {
  [Name in RunColumn]: undefined extends NewRun[Name] ? Exclude<NewRun[Name], undefined> | null : NewRun[Name];
};
const insertedColumns = (run: NewRun) =>
  Object.fromEntries(RUN_COLUMN_NAMES.map((name) => [name, run[name] ?? null])) as InsertedColumns;

function attributedIds(run: NewRun): string[] | undefined {
  const holders = attributedHolders(run);
  return holders.length > 0 ? holders.map(({ holder_id }) => holder_id) : undefined;
}

const toRecord = (run: NewRun): Record<keyof typeof GIVEN_COLUMNS, unknown> => ({
  ...insertedColumns(run),
  lane: run.lane,
  deadline_seconds: run.deadlineSeconds,
  event_id: run.event_id,
  estimate: run.estimate,
  source_run_ids: run.references,
  attributed_holders: attributedIds(run),
  idempotency_key: run.idempotency?.key,
  fingerprint: hex(run.idempotency?.fingerprint),
  secret_id: run.webhook_secret?.secret_id,
  secret_key_id: run.webhook_secret?.key_id,
  sealed_secret: hex(run.webhook_secret?.sealed),
  secret_days: run.webhook_secret?.retentionDays,
});

/**
 * Returns undefined if another request holds the idempotency key. Throws if a budget, the limit of open runs or the
 * storage quota is reached.
 */
export async function insertRun(db: Database, run: NewRun): Promise<RunRow | undefined> {
  const outcome = await accept(db, run);
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome.acceptedAt && toAcceptedRow(run, outcome.acceptedAt);
}

/** The row that was inserted, without reading it. */
function toAcceptedRow(run: NewRun, acceptedAt: Date): RunRow {
  const { traceparent: _traceparent, schema_hash: _hash, ...columns } = insertedColumns(run);
  return {
    ...columns,
    tenant_id: run.tenant_id,
    ...{ status: "queued", progress: 0, phase: null, result: null, error: null, cost: null },
    ...{ created_at: acceptedAt, updated_at: acceptedAt, started_at: null, finished_at: null },
    ...{ cancel_requested_at: null, expires_at: null, deleted_at: null },
  };
}

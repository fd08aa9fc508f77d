// Spending limits of customers, end users and tags. `*` is a template: the statement that accepts the first run of a
// value without a limit of its own copies it, so a limit for every end user costs one row for each that has runs.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { AttributionKind } from "./attributed-holders.ts";

export type AttributedBudgetRow = {
  holder_id: string;
  of_kind: AttributionKind;
  of_value: string;
  template_id: string | null;
  hour_limit: number | null;
  day_limit: number | null;
  month_limit: number | null;
  hour_used: number;
  day_used: number;
  month_used: number;
  alert_at: number[];
  created_at: Date;
};

/** What `COLUMNS` needs. */
const TABLE_COLUMNS = `tenant_id, holder_id, of_kind, of_value, template_id, hour_limit, day_limit, month_limit,
     created_at, hour, hour_used, day, day_used, month, month_used, alert_at`;
const COLUMNS = `holder_id, of_kind, of_value, template_id, hour_limit, day_limit, month_limit, created_at,
     case when hour = hour_of(now()) then hour_used else 0 end as hour_used,
     case when day = day_of(now()) then day_used else 0 end as day_used,
     case when month = month_of(now()) then month_used else 0 end as month_used,
     coalesce(alert_at, '{}')::float[] as alert_at`;
type Computed = Pick<
  AttributedBudgetRow,
  "hour_used" | "day_used" | "month_used" | "alert_at" | "of_kind" | "of_value" | "created_at"
>;

/** Locked in the order in which statements that accept and end runs lock budgets. */
const LOCK_COPIES = `copies as materialized (
     select holder_id as copy_id from budgets
     where tenant_id = :tenant_id and of_kind = :kind and template_id = :holder_id order by holder_id for update
   )`;

const PUT = statement(
  "attributed_budgets.put",
  `with put as (
     insert into budgets (tenant_id, holder_id, of_kind, of_value, created_at, alert_at, hour_limit, day_limit,
       month_limit, hour, hour_used, day, day_used, month, month_used)
     select :tenant_id, :holder_id, :kind, :value, now(), :alert_at?::numeric[], :hour_limit?, :day_limit?, :month_limit?,
       hour_of(now()), spent.hour_used, day_of(now()), spent.day_used, month_of(now()), spent.month_used
     from spent_this_month(:tenant_id, :kind, :value) as spent
     on conflict (tenant_id, holder_id) do update set alert_at = excluded.alert_at, hour_limit = excluded.hour_limit,
       day_limit = excluded.day_limit, month_limit = excluded.month_limit, template_id = null, alerts = '{}',
       refused = '{}'
     returning ${TABLE_COLUMNS}
   ), ${LOCK_COPIES}, changed_copies as (
     update budgets set alert_at = :alert_at?::numeric[], hour_limit = :hour_limit?, day_limit = :day_limit?,
       month_limit = :month_limit?, alerts = '{}', refused = '{}'
     from copies where tenant_id = :tenant_id and holder_id = copy_id
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'budgets.create', holder_id::text,
       jsonb_build_object('of', jsonb_build_object(of_kind, of_value), 'spend_per_hour', trim_scale(hour_limit / 1e6),
         'spend_per_day', trim_scale(day_limit / 1e6), 'spend_per_month', trim_scale(month_limit / 1e6))
     from put
   )
   select ${COLUMNS} from put`,
).columns<Computed>();

export type NewAttributedBudget = {
  holder_id: string;
  kind: AttributionKind;
  value: string;
  hour_limit: number | null;
  day_limit: number | null;
  month_limit: number | null;
  alert_at: number[];
};

/** Sets the limits, or replaces them. What was spent in this month counts. */
export async function putAttributedBudget(
  db: Database,
  actor: Actor,
  { alert_at, ...budget }: NewAttributedBudget,
): Promise<AttributedBudgetRow> {
  const [row] = await db.execute(PUT, {
    ...{ tenant_id: actor.tenant_id, ...actorParameters(actor), ...budget },
    alert_at: alert_at.length > 0 ? alert_at : null,
  });
  return row!;
}

const FIND = statement(
  "attributed_budgets.find",
  `select ${COLUMNS} from budgets where tenant_id = :tenant_id and holder_id = :holder_id and of_kind is not null`,
).columns<Computed>();

export async function findAttributedBudget(
  db: Database,
  tenantId: string,
  holderId: string,
): Promise<AttributedBudgetRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, holder_id: holderId });
  return row;
}

const LIST = statement(
  "attributed_budgets.list",
  `select ${COLUMNS} from budgets
   where tenant_id = :tenant_id and of_kind is not null and (:before?::uuid is null or holder_id < :before?)
     and case when :kind?::text is null then template_id is null else of_kind = :kind? and of_value = :value? end
   order by holder_id desc limit :limit`,
).columns<Computed>();

export type BudgetListFilter = {
  before?: string | undefined;
  owner?: { kind: AttributionKind; value: string } | undefined;
};

/** Without an owner: those that were set, and not the copies of templates. */
export const listAttributedBudgets = (
  db: Database,
  tenantId: string,
  { before, owner }: BudgetListFilter,
  limit: number,
): Promise<AttributedBudgetRow[]> =>
  db.execute(LIST, { tenant_id: tenantId, before, kind: owner?.kind, value: owner?.value, limit });

const DELETE = statement(
  "attributed_budgets.delete",
  `with target as (
     select of_kind as kind from budgets
     where tenant_id = :tenant_id and holder_id = :holder_id and of_kind is not null and template_id is null
   ), locked as materialized (
     select holder_id as locked_id from budgets join target on of_kind = kind
     where tenant_id = :tenant_id and (holder_id = :holder_id or template_id = :holder_id)
     order by holder_id for update of budgets
   ), deleted as (
     delete from budgets using locked where tenant_id = :tenant_id and holder_id = locked_id returning ${TABLE_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'budgets.delete', holder_id::text,
       jsonb_build_object('of', jsonb_build_object(of_kind, of_value))
     from deleted where holder_id = :holder_id
   )
   select ${COLUMNS} from deleted where holder_id = :holder_id`,
).columns<Computed>();

/** Also deletes the copies of a template. Undefined if there is no such limit, or if it is a copy. */
export async function deleteAttributedBudget(
  db: Database,
  actor: Actor,
  holderId: string,
): Promise<AttributedBudgetRow | undefined> {
  const parameters = { tenant_id: actor.tenant_id, ...actorParameters(actor), holder_id: holderId };
  const [row] = await db.execute(DELETE, parameters);
  return row;
}

const ALERT = statement(
  "attributed_budgets.alert",
  `with crossed as materialized (
     select tenant_id, holder_id, of_kind, of_value, alerts as known_alerts, period, amount, used, share,
       period_start(period) as starts
     from budgets cross join lateral (values
       ('hour', hour_limit, case when hour = hour_of(now()) then hour_used else 0 end),
       ('day', day_limit, case when day = day_of(now()) then day_used else 0 end),
       ('month', month_limit, case when month = month_of(now()) then month_used else 0 end)
     ) as limited (period, amount, used) cross join lateral unnest(alert_at) as share
     where alert_at is not null and of_value is distinct from '*' and amount is not null
       and (used >= share * amount and used > 0 or share >= 1 and refused ->> period = period_start(period))
       and share > case when alerts -> period ->> 'starts' = period_start(period)
         then (alerts -> period ->> 'share')::numeric else 0 end
     order by tenant_id, holder_id, period, share limit cardinality(:event_ids::uuid[])
   ), sent as (
     select tenant_id, holder_id, known_alerts,
       jsonb_object_agg(period, jsonb_build_object('starts', starts, 'share', share)) as alerts
     from (
       select distinct on (tenant_id, holder_id, period) tenant_id, holder_id, known_alerts,
         period, starts, share from crossed order by tenant_id, holder_id, period, share desc
     ) as highest group by 1, 2, 3
   ), noted as (
     update budgets set alerts = budgets.alerts || sent.alerts from sent
     where budgets.tenant_id = sent.tenant_id and budgets.holder_id = sent.holder_id and budgets.alerts = known_alerts
     returning budgets.tenant_id, budgets.holder_id
   ), numbered as (
     select tenant_id, holder_id, of_kind, of_value, period, amount, used, share,
       row_number() over (order by tenant_id, holder_id, period, share) as number
     from crossed join noted using (tenant_id, holder_id)
   )
   insert into events (run_id, event_id, tenant_id, type, data)
   select (:event_ids::uuid[])[number], (:event_ids::uuid[])[number], tenant_id,
     case when share >= 1 then 'budget.reached' else 'budget.warning' end,
     jsonb_build_object('budget_id', holder_id, 'of', jsonb_build_object(of_kind, of_value), 'period', period,
       'limit', trim_scale(amount / 1000000.0), 'used', trim_scale(used / 1000000.0), 'share', trim_scale(share),
       'currency', 'USD')
   from numbered returning event_id`,
);

/** Inserts an event for each share of a limit that is used now, at most as many as IDs. Returns their number. */
export async function insertBudgetAlerts(db: Database, eventIds: string[]): Promise<number> {
  return (await db.execute(ALERT, { event_ids: eventIds })).length;
}

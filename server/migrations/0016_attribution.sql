-- expand: costs are attributed to customers, end users and tags, each of which can have a spending limit

alter table runs add column customer text;
-- The tags that the run was created with. Its cost counts for them, whatever tags users put on the run later. Null: none.
alter table runs add column cost_tags text[];

-- The limit of a customer, an end user or a tag. `*` is the template for every value of its kind that has no limit of
-- its own: the first run of a value copies the row, and `template_id` names the template.
alter table budgets add column of_kind text;
alter table budgets add column of_value text;
alter table budgets add column template_id uuid;
alter table budgets add column created_at timestamptz;
-- Shares of a limit, such as 0.8. An event is sent once per share and period.
alter table budgets add column alert_at numeric[];
-- By period (hour, day, month): when that of the last alert started, and the highest share of it.
alter table budgets add column alerts jsonb not null default '{}';
-- By period: when the limit last refused a run, as the start of that period.
alter table budgets add column refused jsonb not null default '{}';

-- The beginning of the current hour, day or month in UTC, as the columns `alerts` and `refused` of budgets have it.
create function period_start(period text) returns text language sql stable as $$
  select to_char(date_trunc(period, now() at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

-- What was spent and reserved since the beginning of this month (UTC) for a customer, an end user or a tag. Runs with
-- the rights of the owner: an end user sees its own runs only, and its customer has others.
create function spent_this_month(of_tenant uuid, kind text, value text,
  out hour_used bigint, out day_used bigint, out month_used bigint)
language plpgsql stable security definer as $$
declare
  since constant uuid := uuid_floor(month_of(now())::timestamp at time zone 'UTC');
begin
  select coalesce(sum(amount) filter (where hour_of(accepted_at) = hour_of(now())), 0),
    coalesce(sum(amount) filter (where day_of(accepted_at) = day_of(now())), 0), coalesce(sum(amount), 0)
  into hour_used, day_used, month_used
  from (
    select created_at as accepted_at, run_id, cost from runs
    where kind = 'customer' and tenant_id = of_tenant and customer = value and run_id >= since
    union all
    select created_at, run_id, cost from runs
    where kind = 'end_user' and tenant_id = of_tenant and end_user = value and run_id >= since
    union all
    select created_at, run_id, cost from runs
    where kind = 'tag' and tenant_id = of_tenant and cost_tags @> array[value] and run_id >= since
  ) as this_month left join open_runs using (run_id)
  cross join lateral (values (coalesce(open_runs.reserved, (cost ->> 'amount')::numeric * 1000000))) as one (amount);
end $$;

-- As `check_budgets`, with an amount for each holder, so that runs of many end users share a statement. First inserts
-- the budgets that values get from a template. Locks by id, after the insertions by id, so that two statements with the
-- same holders do not deadlock.
create function check_attributed_budgets(of_tenant uuid, of_holders uuid[], amounts bigint[],
  new_holders uuid[], new_templates uuid[], new_values text[]) returns budget_check
language plpgsql as $$
declare
  each record;
  checked budget_check;
begin
  if new_holders <> '{}' then
    insert into budgets (tenant_id, holder_id, of_kind, of_value, template_id, created_at, alert_at,
      hour_limit, day_limit, month_limit, hour, hour_used, day, day_used, month, month_used)
    select of_tenant, wanted.holder_id, template.of_kind, wanted.value, template.holder_id, now(), template.alert_at,
      template.hour_limit, template.day_limit, template.month_limit, hour_of(now()), spent.hour_used,
      day_of(now()), spent.day_used, month_of(now()), spent.month_used
    from unnest(new_holders, new_templates, new_values) as wanted (holder_id, template_id, value)
    join budgets as template on template.tenant_id = of_tenant and template.holder_id = wanted.template_id
    cross join lateral spent_this_month(of_tenant, template.of_kind, wanted.value) as spent
    where not exists (
      select from budgets where budgets.tenant_id = of_tenant and budgets.holder_id = wanted.holder_id)
    order by wanted.holder_id
    on conflict do nothing;
  end if;
  for each in
    select budgets.*, charged.amount
    from budgets join unnest(of_holders, amounts) as charged (id, amount) on charged.id = budgets.holder_id
    where tenant_id = of_tenant and has_limit(budgets)
    order by holder_id for update of budgets
  loop
    checked.reached := case
      when each.amount is null then 'price'
      when each.is_prepaid and each.available < each.amount then 'balance'
      when each.hour_limit < each.amount + case when each.hour = hour_of(now()) then each.hour_used else 0 end
        then 'hour'
      when each.day_limit < each.amount + case when each.day = day_of(now()) then each.day_used else 0 end then 'day'
      when each.month_limit < each.amount + case when each.month = month_of(now()) then each.month_used else 0 end
        then 'month'
      when each.total_limit < each.amount + each.total_used then 'total'
    end;
    if checked.reached is not null then
      checked.reached_by := each.holder_id;
      -- For its alert: a limit is reached when it refuses a run, and may have some room for a cheaper one.
      if each.alert_at is not null and checked.reached in ('hour', 'day', 'month') then
        update budgets set refused = refused || jsonb_build_object(checked.reached, period_start(checked.reached))
        where tenant_id = of_tenant and holder_id = each.holder_id
          and refused ->> checked.reached is distinct from period_start(checked.reached);
      end if;
      return checked;
    end if;
    checked.from_balance := coalesce(checked.from_balance, false) or each.is_prepaid;
    checked.holders := checked.holders || each.holder_id;
  end loop;
  return checked;
end $$;

-- Reserves an amount for each holder in budgets that `check_attributed_budgets` has locked.
create function reserve_attributed_budgets(of_tenant uuid, of_holders uuid[], amounts bigint[]) returns void
language sql as $$
  update budgets set
    available = available - case when is_prepaid then amount else 0 end,
    hour_used = case when hour = hour_of(now()) then hour_used else 0 end + amount, hour = hour_of(now()),
    day_used = case when day = day_of(now()) then day_used else 0 end + amount, day = day_of(now()),
    month_used = case when month = month_of(now()) then month_used else 0 end + amount, month = month_of(now()),
    total_used = total_used + amount
  from unnest(of_holders, amounts) as charged (id, amount)
  where tenant_id = of_tenant and holder_id = id
$$;

-- Sums as in `daily_usage`, by what the costs are attributed to. A run with two tags counts for both.
create table attributed_usage (
  tenant_id uuid not null,
  day date not null,
  of_kind text not null check (of_kind in ('customer', 'end_user', 'tag')),
  of_value text not null,
  model text,
  completed bigint not null,
  failed bigint not null,
  canceled bigint not null,
  unpriced bigint not null,
  amount numeric not null,
  unique nulls not distinct (tenant_id, of_kind, day, of_value, model)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table attributed_usage is
  'Sums of ended runs by day, customer, end user or tag, and model.';

-- As `daily_usage_cursor`: processes of an earlier version advance only that one.
create table attributed_usage_cursor (
  id boolean primary key default true check (id),
  xact bigint,
  seq bigint,
  backfill_xact bigint,
  backfill_before uuid,
  read_at timestamptz
) with (fillfactor = 50);
comment on table attributed_usage_cursor is
  'How far the event log is summed up in attributed_usage.';

insert into attributed_usage_cursor default values;
grant select on attributed_usage_cursor to gesso_app;

create table archived_attributed_usage (
  tenant_id uuid not null,
  day date not null,
  of_kind text not null,
  of_value text not null,
  model text,
  completed bigint not null,
  failed bigint not null,
  canceled bigint not null,
  unpriced bigint not null,
  amount numeric not null,
  unique nulls not distinct (tenant_id, of_kind, day, of_value, model)
);
comment on table archived_attributed_usage is
  'The part of attributed_usage that comes from archived runs, for the case that the sums are built again.';

-- What a run counts for.
create function attributions_of(of_customer text, of_end_user text, of_tags text[])
returns table (of_kind text, of_value text) language sql immutable as $$
  select 'customer', of_customer where of_customer is not null
  union all
  select 'end_user', of_end_user where of_end_user is not null
  union all
  select 'tag', tag from unnest(of_tags) as tag
$$;

-- With `customer` and `cost_tags`, which older lines do not have.
create or replace function archived_run_lines(of_runs uuid[]) returns table (run_id uuid, line text)
language sql stable set timezone = 'UTC' as $$
  select record.run_id, (jsonb_build_object('schema', 1) || to_jsonb(record))::text
  from (
    select runs.run_id, runs.tenant_id, user_id, end_user, customer, cost_tags, key_id, operation, run_type, status,
      parent_run_id, root_run_id, depth, inputs, given_fields, plan, metadata, webhook_url, model, provider, result, error, cost, warnings, traceparent,
      created_at, started_at, finished_at, expires_at, deleted_at,
      coalesce((select tags from run_marks where run_marks.run_id = runs.run_id), '{}') as tags,
      array(select source_run_id from run_references where run_references.run_id = runs.run_id
        order by source_run_id) as source_run_ids,
      (select coalesce(jsonb_agg(to_jsonb(request) order by request_index), '[]') from (
         select request_index, provider, model, upstream, output, finished_at
         from planned_requests where planned_requests.run_id = runs.run_id) as request) as requests,
      (select coalesce(jsonb_agg(to_jsonb(attempt) order by request_index, attempt_number), '[]') from (
         select request_index, attempt_number, idempotency_key, provider, upstream, state, send_count,
           bit_count(sent_claims::bit(32)) as sends, unknown_since, ticket, request, fault, is_final, price,
           settled_charge, settled_at, created_at, submitted_at, finished_at
         from attempts where attempts.run_id = runs.run_id) as attempt) as attempts,
      (select coalesce(jsonb_agg(to_jsonb(transfer) order by kind), '[]') from (
         select kind, from_account, to_account, amount, created_at
         from transfers where cause_id = runs.run_id) as transfer) as transfers,
      (select coalesce(jsonb_agg(to_jsonb(asset) order by asset_id), '[]') from (
         select asset_id, role, asset_key(assets.tenant_id, assets.run_id, sha256, storage_key) as storage_key, media_type,
           width, height, size_bytes, sha256, provenance_of, original_sha256, created_at, deleted_at
         from assets where assets.run_id = runs.run_id) as asset) as assets
    from runs
    where runs.run_id = any (of_runs)
      and not exists (select from archived_runs where archived_runs.run_id = runs.run_id)
  ) as record
$$;

-- A trigger, because processes of an earlier version archive runs, too.
create function sum_archived_attributions() returns trigger language plpgsql as $$
begin
  insert into archived_attributed_usage as known
    (tenant_id, day, of_kind, of_value, model, completed, failed, canceled, unpriced, amount)
  select runs.tenant_id, day_of(created_at), of_kind, of_value, model, count(*) filter (where status = 'completed'),
    count(*) filter (where status = 'failed'), count(*) filter (where status = 'canceled'),
    count(*) filter (where status = 'completed' and cost is null), coalesce(sum((cost ->> 'amount')::numeric), 0)
  from archived join runs using (run_id) cross join lateral attributions_of(customer, end_user, cost_tags)
  where run_type not in ('upload', 'mask-upload')
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (tenant_id, of_kind, day, of_value, model) do update
  set completed = known.completed + excluded.completed, failed = known.failed + excluded.failed,
    canceled = known.canceled + excluded.canceled, unpriced = known.unpriced + excluded.unpriced,
    amount = known.amount + excluded.amount;
  return null;
end $$;
comment on function sum_archived_attributions is
  'Adds archived runs to archived_attributed_usage.';

create trigger sum_archived_attributions after insert on archived_runs referencing new table as archived
  for each statement execute function sum_archived_attributions();

comment on function check_budgets is
  'For processes of earlier versions: `check_attributed_budgets` has an amount for each holder.';
comment on function reserve_budgets is
  'For processes of earlier versions: `reserve_attributed_budgets` has an amount for each holder.';

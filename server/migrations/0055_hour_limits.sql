-- expand: tenants and keys can have a spending limit for each hour, so that an agent that is misled cannot spend the
-- budget of a day before anybody looks

alter table budgets add column hour_limit bigint;
alter table budgets add column hour timestamp not null default '2000-01-01';
alter table budgets add column hour_used bigint not null default 0;

create function hour_of(moment timestamptz) returns timestamp language sql immutable as $$
  select date_trunc('hour', moment at time zone 'UTC')
$$;

-- Whether the budget has a limit or a balance. `is_limited` knows nothing of the limit for an hour.
create function has_limit(budget budgets) returns boolean language sql immutable as $$
  select budget.is_limited or budget.hour_limit is not null
$$;

-- As before, with the limit for an hour.
create or replace function check_budgets(of_tenant uuid, of_holders uuid[], amount bigint) returns budget_check
language plpgsql as $$
declare
  each budgets;
  checked budget_check;
begin
  for each in
    select * from budgets where tenant_id = of_tenant and holder_id = any(of_holders) and has_limit(budgets)
    order by holder_id for update
  loop
    checked.reached := case
      when amount is null then 'price'
      when each.is_prepaid and each.available < amount then 'balance'
      when each.hour_limit < amount + case when each.hour = hour_of(now()) then each.hour_used else 0 end then 'hour'
      when each.day_limit < amount + case when each.day = day_of(now()) then each.day_used else 0 end then 'day'
      when each.month_limit < amount + case when each.month = month_of(now()) then each.month_used else 0 end
        then 'month'
      when each.total_limit < amount + each.total_used then 'total'
    end;
    if checked.reached is not null then
      checked.reached_by := each.holder_id;
      return checked;
    end if;
    checked.from_balance := coalesce(checked.from_balance, false) or each.is_prepaid;
    checked.holders := checked.holders || each.holder_id;
  end loop;
  return checked;
end $$;

create or replace function reserve_budgets(of_tenant uuid, of_holders uuid[], amount bigint) returns uuid[]
language sql as $$
  update budgets set
    available = available - case when is_prepaid then amount else 0 end,
    hour_used = case when hour = hour_of(now()) then hour_used else 0 end + amount, hour = hour_of(now()),
    day_used = case when day = day_of(now()) then day_used else 0 end + amount, day = day_of(now()),
    month_used = case when month = month_of(now()) then month_used else 0 end + amount, month = month_of(now()),
    total_used = total_used + amount
  where tenant_id = of_tenant and holder_id = any(of_holders);
  select of_holders
$$;

create or replace function release_budgets(of_tenant uuid, of_holders uuid[], amount bigint, to_balance boolean,
  accepted_at timestamptz)
returns void language plpgsql as $$
begin
  perform from budgets where tenant_id = of_tenant and holder_id = any(of_holders) order by holder_id for update;
  update budgets set
    available = available + case
      when to_balance and holder_id = '00000000-0000-0000-0000-000000000000' then amount else 0 end,
    hour_used = hour_used - case when hour = hour_of(accepted_at) then amount else 0 end,
    day_used = day_used - case when day = day_of(accepted_at) then amount else 0 end,
    month_used = month_used - case when month = month_of(accepted_at) then amount else 0 end,
    total_used = total_used - amount
  where tenant_id = of_tenant and holder_id = any(of_holders);
end $$;

create or replace function set_budget(of_tenant uuid, of_holder uuid, limits jsonb) returns void language plpgsql as $$
declare
  new_hour_limit constant bigint := (limits ->> 'spend_per_hour')::numeric * 1000000;
  new_day_limit constant bigint := (limits ->> 'spend_per_day')::numeric * 1000000;
  new_month_limit constant bigint := (limits ->> 'spend_per_month')::numeric * 1000000;
  current budgets;
begin
  if coalesce(new_hour_limit, new_day_limit, new_month_limit) is not null then
    insert into budgets (tenant_id, holder_id) values (of_tenant, of_holder) on conflict do nothing;
  end if;
  select * into current from budgets where tenant_id = of_tenant and holder_id = of_holder for update;
  if not found then
    return;
  end if;
  if not has_limit(current) then
    current.hour := hour_of(now());
    current.day := day_of(now());
    current.month := month_of(now());
    select coalesce(sum(amount) filter (where hour_of(accepted_at) = current.hour), 0),
      coalesce(sum(amount) filter (where day_of(accepted_at) = current.day), 0), coalesce(sum(amount), 0)
    into current.hour_used, current.day_used, current.month_used
    from (
      select runs.created_at as accepted_at,
        coalesce(open_runs.reserved, (runs.cost ->> 'amount')::numeric * 1000000) as amount
      from runs left join open_runs using (run_id)
      where runs.tenant_id = of_tenant and runs.run_id >= uuid_floor(current.month::timestamp at time zone 'UTC')
        and (of_holder = '00000000-0000-0000-0000-000000000000' or runs.key_id in (
          select key_id from api_keys
          where api_keys.tenant_id = of_tenant and (key_id = of_holder or of_holder = any(holder_ids))))
    ) as this_month;
  end if;
  update budgets set hour_limit = new_hour_limit, day_limit = new_day_limit, month_limit = new_month_limit,
    hour = current.hour, hour_used = current.hour_used, day = current.day, day_used = current.day_used,
    month = current.month, month_used = current.month_used
  where tenant_id = of_tenant and holder_id = of_holder;
end $$;

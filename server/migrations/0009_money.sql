-- Money, counted in whole micro-dollars, a millionth of a dollar each, so that every sum is exact.
--
-- Double entry: a transfer takes an amount out of one account and puts it into another, so the entries of a transfer are
-- zero together, and so are those of all. An account belongs to a tenant, except the two of the installation:
--   available  what the tenant has paid in and nothing holds; only tenants that pay in advance have it
--   credit     the same for tenants without a balance: it only ever falls, and says what they have used
--   reserved   held by runs that are open
--   spent      what runs have cost
--   outside    the world: where top-ups come from, and providers are paid
--   waste      what providers took, or may have taken, for nothing that a caller got
-- A run makes at most one transfer of a kind. What costs nothing moves nothing.

create table transfers (
  cause_id uuid not null,
  kind text not null,
  tenant_id uuid not null,
  from_account text not null,
  to_account text not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default now(),
  primary key (cause_id, kind),
  check ((kind, from_account, to_account) in (
    ('reserve', 'available', 'reserved'), ('reserve', 'credit', 'reserved'),
    ('settle', 'reserved', 'spent'), ('settle', 'credit', 'spent'),
    ('release', 'reserved', 'available'), ('release', 'reserved', 'credit'),
    ('waste', 'outside', 'waste'),
    ('topup', 'outside', 'available'), ('topup', 'available', 'outside')))
) partition by range (cause_id);

create function guard_transfer() returns trigger language plpgsql as $$
begin
  raise exception 'transfer % of %: what is booked stays booked', old.kind, old.cause_id using errcode = 'check_violation';
end $$;

create trigger guard_transfer before update or delete on transfers for each row execute function guard_transfer();

create view entries as
  select cause_id, kind, tenant_id, from_account as account, -amount as amount, created_at from transfers
  union all
  select cause_id, kind, tenant_id, to_account, amount, created_at from transfers;

-- What a tenant (under the nil id), one of its keys or tokens may spend, and what of it is taken: the row that decides. It
-- is only there where somebody set a limit, so a tenant without one has no row that all its requests would meet at. `used`
-- counts what runs have cost and what open ones hold, by the day and month in which they were accepted.
create table budgets (
  tenant_id uuid not null,
  holder_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_prepaid boolean not null default false,
  available bigint not null default 0,
  day_limit bigint check (day_limit >= 0),
  month_limit bigint check (month_limit >= 0),
  total_limit bigint check (total_limit >= 0),
  day date not null default '2000-01-01',
  day_used bigint not null default 0,
  month date not null default '2000-01-01',
  month_used bigint not null default 0,
  total_used bigint not null default 0,
  is_limited boolean not null generated always as
    (is_prepaid or day_limit is not null or month_limit is not null or total_limit is not null) stored,
  ends_at timestamptz,
  primary key (tenant_id, holder_id),
  check (not is_prepaid or available >= 0),
  check (not is_prepaid or holder_id = '00000000-0000-0000-0000-000000000000')
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create function day_of(moment timestamptz) returns date language sql immutable as $$
  select (moment at time zone 'UTC')::date
$$;

create function month_of(moment timestamptz) returns date language sql immutable as $$
  select date_trunc('month', moment at time zone 'UTC')::date
$$;

-- What stands against holding an amount, and whom it would be counted for. Read under the locks of these rows, which are
-- kept until the run is in: what another takes at this moment is waited for, and then seen. Locks are taken in the order of
-- ids, so that none wait in a circle.
create type budget_verdict as (reached text, reached_by uuid, from_balance boolean, holders uuid[]);

create function judge_budget(of_tenant uuid, of_holders uuid[], amount bigint) returns budget_verdict
language plpgsql as $$
declare
  each budgets;
  verdict budget_verdict;
begin
  for each in
    select * from budgets where tenant_id = of_tenant and holder_id = any(of_holders) and is_limited
    order by holder_id for update
  loop
    verdict.reached := case
      when amount is null then 'price'
      when each.is_prepaid and each.available < amount then 'balance'
      when each.day_limit < amount + case when each.day = day_of(now()) then each.day_used else 0 end then 'day'
      when each.month_limit < amount + case when each.month = month_of(now()) then each.month_used else 0 end then 'month'
      when each.total_limit < amount + each.total_used then 'total'
    end;
    if verdict.reached is not null then
      verdict.reached_by := each.holder_id;
      return verdict;
    end if;
    verdict.from_balance := coalesce(verdict.from_balance, false) or each.is_prepaid;
    verdict.holders := verdict.holders || each.holder_id;
  end loop;
  return verdict;
end $$;

-- Counts an amount for those who were judged; they are locked.
create function take_budget(of_tenant uuid, of_holders uuid[], amount bigint) returns uuid[] language sql as $$
  update budgets set
    available = available - case when is_prepaid then amount else 0 end,
    day_used = case when day = day_of(now()) then day_used else 0 end + amount, day = day_of(now()),
    month_used = case when month = month_of(now()) then month_used else 0 end + amount, month = month_of(now()),
    total_used = total_used + amount
  where tenant_id = of_tenant and holder_id = any(of_holders);
  select of_holders
$$;

-- Gives back what a run did not cost to those that it was counted for, in the day and month of its acceptance.
create function ease_budget(of_tenant uuid, of_holders uuid[], amount bigint, to_balance boolean, accepted_at timestamptz)
returns void language plpgsql as $$
begin
  perform from budgets where tenant_id = of_tenant and holder_id = any(of_holders) order by holder_id for update;
  update budgets set
    available = available + case when to_balance and holder_id = '00000000-0000-0000-0000-000000000000' then amount else 0 end,
    day_used = day_used - case when day = day_of(accepted_at) then amount else 0 end,
    month_used = month_used - case when month = month_of(accepted_at) then amount else 0 end,
    total_used = total_used - amount
  where tenant_id = of_tenant and holder_id = any(of_holders);
end $$;

alter table runs add column if not exists key_id uuid;
-- What the run holds, null where its price is not known; the account that it was taken from; the budgets that count it.
alter table open_runs add column reserved bigint check (reserved >= 0);
alter table open_runs add column held_from text check (held_from in ('available', 'credit'));
alter table open_runs add column holders uuid[];
-- What the provider is expected to take for this attempt; null where it is not known.
alter table attempts add column price bigint check (price >= 0);

create or replace function make_partitions(first date, days integer) returns void language plpgsql as $$
declare
  parent text;
  day date;
begin
  foreach parent in array array['runs', 'jobs', 'attempts', 'assets', 'events', 'run_references', 'transfers'] loop
    for day in select generate_series(first, first + days - 1, interval '1 day')::date loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        -- Room in each page for the changes that a row sees.
        execute format('create table %I partition of %I for values from (%L) to (%L) with (fillfactor = %s)',
          format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'),
          case parent when 'transfers' then 100 else 70 end);
      end if;
    end loop;
  end loop;
end $$;

-- Limits are set where a tenant or a key is changed, in dollars; what they mean for the budget follows here, whoever writes
-- them. Where nothing was limited before, what this month's runs have cost and hold is counted now; a run that is accepted
-- at this very moment may be missed by the count.
create function set_budget(of_tenant uuid, of_holder uuid, limits jsonb) returns void language plpgsql as $$
declare
  new_day_limit constant bigint := (limits ->> 'spend_per_day')::numeric * 1000000;
  new_month_limit constant bigint := (limits ->> 'spend_per_month')::numeric * 1000000;
  kept budgets;
begin
  if coalesce(new_day_limit, new_month_limit) is not null then
    insert into budgets (tenant_id, holder_id) values (of_tenant, of_holder) on conflict do nothing;
  end if;
  select * into kept from budgets where tenant_id = of_tenant and holder_id = of_holder for update;
  if not found then
    return;
  end if;
  if not kept.is_limited then
    kept.day := day_of(now());
    kept.month := month_of(now());
    select coalesce(sum(amount) filter (where day_of(accepted_at) = kept.day), 0), coalesce(sum(amount), 0)
    into kept.day_used, kept.month_used
    from (
      select runs.created_at as accepted_at, coalesce(open_runs.reserved, (runs.cost ->> 'amount')::numeric * 1000000) as amount
      from runs left join open_runs using (run_id)
      where runs.tenant_id = of_tenant and runs.run_id >= uuid_floor(kept.month::timestamp at time zone 'UTC')
        and (of_holder = '00000000-0000-0000-0000-000000000000' or runs.key_id = of_holder)
    ) as this_month;
  end if;
  update budgets set day_limit = new_day_limit, month_limit = new_month_limit,
    day = kept.day, day_used = kept.day_used, month = kept.month, month_used = kept.month_used
  where tenant_id = of_tenant and holder_id = of_holder;
end $$;

create function follow_limits() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'tenants' then
    perform set_budget(new.tenant_id, '00000000-0000-0000-0000-000000000000', new.limits);
  else
    perform set_budget(new.tenant_id, new.key_id, new.limits);
  end if;
  return null;
end $$;

create trigger follow_limits after insert or update of limits on tenants for each row execute function follow_limits();
create trigger follow_limits after insert or update of limits on api_keys for each row execute function follow_limits();

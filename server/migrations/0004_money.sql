-- Money, in whole micro-dollars (a millionth of a US dollar), so that every sum is exact.
--
-- Double-entry ledger: a transfer moves an amount from one account to another, so the entries of each transfer sum to
-- zero. Each tenant has its own accounts, except the last two, which belong to the installation:
--   available  prepaid balance that no run has reserved; only prepaid tenants have it
--   credit     the same for tenants without a balance: it only falls, and shows what they used
--   reserved   reserved by open runs
--   spent      cost of completed and canceled runs
--   outside    source of top-ups and of payments to providers
--   waste      charges of providers, certain or possible, for which a caller got nothing
-- A run has at most one transfer of each kind. An amount of zero has no transfer.
set local check_function_bodies = off;

create function day_of(moment timestamptz) returns date language sql immutable as $$
  select (moment at time zone 'UTC')::date
$$;

create function month_of(moment timestamptz) returns date language sql immutable as $$
  select date_trunc('month', moment at time zone 'UTC')::date
$$;

create function hour_of(moment timestamptz) returns timestamp language sql immutable as $$
  select date_trunc('hour', moment at time zone 'UTC')
$$;

-- Spending limits of a tenant (nil holder id), an API key or a token, and what is used of them. A row exists only
-- where a limit was set, so the requests of a tenant without limits do not contend for one row. The used amounts
-- include open reservations and count in the day and month in which a run was accepted.
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
  ends_at timestamptz,
  -- A prepaid tenant gets one `credits.low` event per top-up, when the balance falls below the threshold.
  low_threshold bigint,
  low_notified_at timestamptz,
  hour_limit bigint,
  hour timestamp not null default '2000-01-01',
  hour_used bigint not null default 0,
  primary key (tenant_id, holder_id),
  check (not is_prepaid or available >= 0),
  check (not is_prepaid or holder_id = '00000000-0000-0000-0000-000000000000')
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table budgets is
  'Balances and spending limits of tenants, keys and tokens with what is used. Amounts are micro-dollars.';

-- Contains no column that changes with every run, so that those updates stay heap-only (HOT).
create index budgets_to_watch on budgets (tenant_id) where is_prepaid and low_notified_at is null;

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
    ('waste', 'outside', 'waste'), ('correction', 'outside', 'waste'), ('correction', 'waste', 'outside'),
    ('topup', 'outside', 'available'), ('topup', 'available', 'outside')))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table transfers is
  'The double-entry ledger. Rows are never changed. Amounts are micro-dollars.';

-- Transfers of a tenant that is being deleted can be deleted, and transfers after the archive file with their run was
-- verified.
create function forbid_transfer_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from tenant_deletions where deleted_tenant_id = old.tenant_id and state = 'deleting') or exists (
      select from archive_batches
      where tenant_id = old.tenant_id and kind = 'runs' and state = 'verified' and old.cause_id = any (run_ids)
    ) then
      return old;
    end if;
  end if;
  raise exception 'transfer % of %: transfers are never changed', old.kind, old.cause_id
    using errcode = 'check_violation';
end $$;
comment on function forbid_transfer_changes is
  'Refuses changes and deletions of transfers.';

create trigger forbid_transfer_changes before update or delete on transfers
  for each row execute function forbid_transfer_changes();

-- Ended runs without uploads, by the day of acceptance (UTC). A run counts once, when it has ended: after that, neither
-- its status nor its cost changes, and a deleted run keeps both. A background duty adds the runs from the event log.
create table daily_usage (
  tenant_id uuid not null,
  day date not null,
  operation text not null,
  model text,
  key_id uuid,
  completed bigint not null,
  failed bigint not null,
  canceled bigint not null,
  -- Completed runs without a cost.
  unpriced bigint not null,
  -- In US dollars, as in `runs.cost`.
  amount numeric not null,
  unique nulls not distinct (tenant_id, day, operation, model, key_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table daily_usage is
  'Sums of ended runs by day, operation, model and key.';

-- The sums contain every run whose end is an event up to this position, and no other run. The position advances in the
-- statement that adds to the sums. `xact` is null before the first turn of the duty; setting it to null rebuilds the
-- sums.
create table daily_usage_cursor (
  id boolean primary key default true check (id),
  xact bigint,
  seq bigint,
  -- Runs that had ended before this position of the log are added by id, newest first. Those below `backfill_before`
  -- are not added yet; null when all of them are.
  backfill_xact bigint,
  backfill_before uuid,
  -- When the duty last found no more events or added some.
  read_at timestamptz
) with (fillfactor = 50);
comment on table daily_usage_cursor is
  'How far the event log is summed up in daily_usage.';

insert into daily_usage_cursor default values;

-- `reached` is the limit that refuses the amount and `reached_by` its holder; otherwise `holders` are the budgets
-- that will count it. The row locks are held until the accepting statement commits, so a concurrent reservation is
-- waited for and seen. Locks are acquired in the order of ids to avoid deadlocks.
create type budget_check as (reached text, reached_by uuid, from_balance boolean, holders uuid[]);

create function check_budgets(of_tenant uuid, of_holders uuid[], amount bigint) returns budget_check
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

-- Reserves an amount in budgets that `check_budgets` has locked.
create function reserve_budgets(of_tenant uuid, of_holders uuid[], amount bigint) returns uuid[]
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

-- Returns the part of a reservation that a run did not cost, in the day and month in which the run was accepted.
create function release_budgets(of_tenant uuid, of_holders uuid[], amount bigint, to_balance boolean,
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

-- Applies the limits of a tenant or key (in dollars) to its budget. If nothing was limited before, the cost and
-- reservations of this month's runs are counted now; a run that is accepted concurrently may be missed.
-- The runs of a key are those of its holder and its descendants.
create function set_budget(of_tenant uuid, of_holder uuid, limits jsonb) returns void language plpgsql as $$
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

-- A trigger, so that every writer of limits also changes the budget.
-- The budget of a key is that of its holder. A replaced key no longer decides about the limits that it shares with its
-- successor.
create function sync_budget_limits() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'tenants' then
    perform set_budget(new.tenant_id, '00000000-0000-0000-0000-000000000000', new.limits);
  elsif new.replaced_by is null then
    perform set_budget(new.tenant_id, key_holder(new.key_id, new.holder_ids), new.limits);
  end if;
  return null;
end $$;
comment on function sync_budget_limits is
  'Writes the spending limits of a tenant or a key into its budget.';

-- The sums of two objects of numbers, by key.
create function add_counts(one jsonb, other jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(key, total), '{}')
  from (
    select key, sum(value::numeric) as total
    from (
      select key, value from jsonb_each_text(one) union all select key, value from jsonb_each_text(other)
    ) as counts group by key
  ) as totals
  where total <> 0
$$;

-- Whether the budget has a balance or a limit.
create function has_limit(budget budgets) returns boolean language sql immutable as $$
  select budget.is_prepaid
    or coalesce(budget.hour_limit, budget.day_limit, budget.month_limit, budget.total_limit) is not null
$$;

create trigger sync_budget_limits after insert or update of limits on tenants
  for each row execute function sync_budget_limits();

create trigger sync_budget_limits after insert or update of limits on api_keys
  for each row execute function sync_budget_limits();

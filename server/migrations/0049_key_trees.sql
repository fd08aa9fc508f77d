-- expand: an API key knows the keys that it was made with, so that its use counts against their limits, too

-- Whose limits the use of the key counts against: those of the keys it was made with, the root first, and its own last.
-- A rotated key counts against the first key of its rotation, so that old and new key share its limits and its children.
-- Empty: only against itself. The previous version writes such rows.
alter table api_keys add column holder_ids uuid[] not null default '{}';

create function key_holders(of_key uuid, holder_ids uuid[]) returns uuid[] language sql immutable parallel safe as $$
  select case when holder_ids = '{}' then array[of_key] else holder_ids end
$$;

create function key_holder(of_key uuid, holder_ids uuid[]) returns uuid language sql immutable parallel safe as $$
  select coalesce(holder_ids[cardinality(holder_ids)], of_key)
$$;

create function keys_above(holder_ids uuid[]) returns uuid[] language sql immutable parallel safe as $$
  select holder_ids[1:cardinality(holder_ids) - 1]
$$;

-- Serializes what changes the tree of a tenant's keys, until the statement commits.
create function lock_key_tree(of_tenant uuid) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('keys/' || of_tenant, 0));
end $$;

-- The holders of a new key. Null if its parent is no longer valid. The parent is read after the lock, so a parent that
-- is revoked at the same time gets no child that survives it.
create function holders_of_new_key(of_tenant uuid, of_key uuid, of_parent uuid) returns uuid[] language plpgsql as $$
begin
  if of_parent is null then
    return '{}';
  end if;
  perform lock_key_tree(of_tenant);
  return (
    select key_holders(key_id, holder_ids) || of_key from api_keys
    where tenant_id = of_tenant and key_id = of_parent and revoked_at is null
      and (expires_at is null or expires_at > now()));
end $$;

-- Revokes a key and its descendants. Those in `kept_ids`, or all with `keep_children`, stay valid with their own
-- descendants, below the nearest key that stays. A key that was rotated leaves its descendants to its replacement.
create function revoke_key_tree(of_tenant uuid, of_key uuid, keep_children boolean, kept_ids uuid[])
returns table (key_id uuid, name text, hint text, user_id text, revoked_at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
  target uuid;
  ended uuid[];
  ended_holders uuid[];
  kept uuid[] := '{}';
begin
  perform lock_key_tree(of_tenant);
  select key_holder(key_id, holder_ids) into target
  from api_keys where tenant_id = of_tenant and key_id = of_key and revoked_at is null;
  if not found then
    return;
  end if;
  ended := array[of_key];
  if not exists (
    select from api_keys where tenant_id = of_tenant and key_id <> of_key and key_holder(key_id, holder_ids) = target
      and replaced_by is null and revoked_at is null and (expires_at is null or expires_at > now())
  ) then
    with below as (
      select key_id, holder_ids, key_holder(key_id, holder_ids) as holder from api_keys
      where tenant_id = of_tenant and target = any(holder_ids) and key_holder(key_id, holder_ids) <> target
        and revoked_at is null and (expires_at is null or expires_at > now())
    ), kept_holders as (
      select coalesce(array_agg(holder), '{}') as ids from below where keep_children or key_id = any(kept_ids)
    )
    select ended || coalesce(array_agg(key_id) filter (where not holder_ids && ids), '{}'),
      target || coalesce(array_agg(holder) filter (where not holder_ids && ids), '{}'),
      coalesce(array_agg(key_id) filter (where holder_ids && ids), '{}')
    into ended, ended_holders, kept
    from below, kept_holders;
  end if;
  perform from api_keys where key_id = any(ended || kept) order by key_id for update;
  return query
    update api_keys set updated_at = now(),
      revoked_at = case when key_id = any(ended) then now() end,
      holder_ids = case when key_id = any(ended) then holder_ids else array(
        select holder from unnest(holder_ids) with ordinality as own (holder, place)
        where holder <> all(ended_holders) order by place) end
    where tenant_id = of_tenant and key_id = any(ended || kept)
    returning key_id, name, hint, user_id, revoked_at;
end $$;

-- The holder whose limit of open runs is reached, the nil UUID for the tenant; null if there may be one more. The lock is
-- held until the accepting statement commits, so that concurrent requests do not count the same free capacity. Runs count
-- where their key is in the tree now.
create function reached_open_run_limit(of_tenant uuid, tenant_most integer, holders uuid[], most integer[]) returns uuid
language plpgsql as $$
declare
  tenant_holder constant uuid := '00000000-0000-0000-0000-000000000000';
  left_of_tenant integer := tenant_most;
  left_of_key integer[] := most;
  open_of_key record;
begin
  perform pg_advisory_xact_lock(hashtextextended('open/' || of_tenant, 0));
  if cardinality(holders) = 0 then
    return (select case when count(*) >= tenant_most then tenant_holder end from open_runs where tenant_id = of_tenant);
  end if;
  for open_of_key in
    select key_holders(api_keys.key_id, holder_ids) as counted_by, runs
    from (select key_id, count(*) as runs from open_runs where tenant_id = of_tenant group by key_id) as by_key
    left join api_keys using (key_id)
  loop
    left_of_tenant := left_of_tenant - open_of_key.runs;
    for place in 1..cardinality(holders) loop
      if holders[place] = any(open_of_key.counted_by) then
        left_of_key[place] := left_of_key[place] - open_of_key.runs;
      end if;
    end loop;
  end loop;
  if left_of_tenant <= 0 then
    return tenant_holder;
  end if;
  for place in 1..cardinality(holders) loop
    if left_of_key[place] <= 0 then
      return holders[place];
    end if;
  end loop;
  return null;
end $$;

-- As before; the runs of a key are those of its holder and its descendants.
create or replace function set_budget(of_tenant uuid, of_holder uuid, limits jsonb) returns void language plpgsql as $$
declare
  new_day_limit constant bigint := (limits ->> 'spend_per_day')::numeric * 1000000;
  new_month_limit constant bigint := (limits ->> 'spend_per_month')::numeric * 1000000;
  current budgets;
begin
  if coalesce(new_day_limit, new_month_limit) is not null then
    insert into budgets (tenant_id, holder_id) values (of_tenant, of_holder) on conflict do nothing;
  end if;
  select * into current from budgets where tenant_id = of_tenant and holder_id = of_holder for update;
  if not found then
    return;
  end if;
  if not current.is_limited then
    current.day := day_of(now());
    current.month := month_of(now());
    select coalesce(sum(amount) filter (where day_of(accepted_at) = current.day), 0), coalesce(sum(amount), 0)
    into current.day_used, current.month_used
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
  update budgets set day_limit = new_day_limit, month_limit = new_month_limit,
    day = current.day, day_used = current.day_used, month = current.month, month_used = current.month_used
  where tenant_id = of_tenant and holder_id = of_holder;
end $$;

-- As before, at the holder of a key. A replaced key no longer decides about the limits that it shares with its successor.
create or replace function sync_budget_limits() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'tenants' then
    perform set_budget(new.tenant_id, '00000000-0000-0000-0000-000000000000', new.limits);
  elsif new.replaced_by is null then
    perform set_budget(new.tenant_id, key_holder(new.key_id, new.holder_ids), new.limits);
  end if;
  return null;
end $$;

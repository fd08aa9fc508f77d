-- Webhooks: who is told of which events, every message as it was built, every time it was tried, and what is still to send.
--
-- Messages are made from the log of events by one reader with a place in it, in one statement with that place, and are named
-- by event and destination: so none is left out and none is made twice. What is still to send is in `open_deliveries` and
-- nowhere else; the row is the right to end its delivery.

create table webhooks (
  webhook_id uuid primary key,
  tenant_id uuid not null,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('asked', 'gone', 'failing', 'not_allowed')),
  disabled_at timestamptz,
  -- Since when nothing has arrived; null while the last message did.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (enabled = (disabled_at is null)),
  check (enabled = (disabled_reason is null))
);
create index webhooks_by_tenant on webhooks (tenant_id, webhook_id);

-- What messages are signed with, sealed by a key that the database does not have. The owner is a webhook, a run, or under
-- the nil id the tenant itself. The current one has no end; one that was replaced ends after a while.
create table webhook_secrets (
  tenant_id uuid not null,
  owner_id uuid not null,
  secret_id uuid not null,
  key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz,
  primary key (tenant_id, owner_id, secret_id)
);
create unique index webhook_secrets_current on webhook_secrets (tenant_id, owner_id) where ends_at is null;
create index webhook_secrets_by_end on webhook_secrets (ends_at) where ends_at is not null;

-- `body` is what every attempt sends, byte for byte; null once its run was deleted.
create table webhook_deliveries (
  delivery_id uuid primary key,
  tenant_id uuid not null,
  event_id uuid not null,
  run_id uuid,
  webhook_id uuid,
  type text not null,
  url text not null,
  body text,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'exhausted', 'disabled', 'dropped')),
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((finished_at is null) = (status = 'pending'))
) partition by range (delivery_id);
create index webhook_deliveries_by_tenant on webhook_deliveries (tenant_id, delivery_id desc);
create index webhook_deliveries_by_run on webhook_deliveries (run_id) where run_id is not null;
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, delivery_id desc) where webhook_id is not null;

create table webhook_attempts (
  delivery_id uuid not null,
  attempt smallint not null,
  tenant_id uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status smallint,
  error text,
  -- The beginning of what the receiver answered, to be shown as text and never as anything else.
  response text,
  primary key (delivery_id, attempt)
) partition by range (delivery_id);

-- For days that lie before the first of ours: what is replayed from then.
create table webhook_deliveries_before partition of webhook_deliveries default;
create table webhook_attempts_before partition of webhook_attempts default;

create sequence delivery_rounds;
grant usage on sequence delivery_rounds to gesso_app, gesso_system;

-- `round` fences engine invocations that were given up on; no two are ever the same. `destination` is what shares a queue, a bound and a breaker: a
-- webhook, or a tenant's runs that name one origin. `busy_until` is a place at the destination, which runs out by itself.
create table open_deliveries (
  delivery_id uuid primary key,
  tenant_id uuid not null,
  run_id uuid,
  webhook_id uuid,
  destination text not null,
  host text not null,
  round bigint not null default nextval('delivery_rounds'),
  tried smallint not null default 0,
  due_at timestamptz not null default now(),
  gives_up_at timestamptz not null,
  dispatched_at timestamptz,
  busy_until timestamptz,
  alive_until timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index open_deliveries_waiting on open_deliveries (destination, due_at) where dispatched_at is null;
create index open_deliveries_busy on open_deliveries (destination) where busy_until is not null;
create index open_deliveries_by_webhook on open_deliveries (webhook_id) where webhook_id is not null;
create index open_deliveries_by_run on open_deliveries (run_id) where run_id is not null;
create index open_deliveries_by_age on open_deliveries (gives_up_at);

-- Destinations that failed lately. No row means healthy.
create table webhook_health (
  destination text primary key,
  tenant_id uuid not null,
  failures integer not null default 0,
  openings integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  changed_at timestamptz not null default now()
);

-- How far the log has been read. What happened before there were webhooks is nobody's message.
create table webhook_cursor (
  id boolean primary key default true check (id),
  xact bigint not null,
  seq bigint not null
);
insert into webhook_cursor (xact, seq) select event_horizon(), 0;

-- When the progress of a run was last told.
create table webhook_progress (
  run_id uuid primary key,
  told_at timestamptz not null
);

-- Ranges of the log that are to be sent again to one webhook, each with how far it has come.
create table webhook_replays (
  replay_id uuid primary key,
  tenant_id uuid not null,
  webhook_id uuid not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  only_failed boolean not null,
  xact bigint not null default 0,
  seq bigint not null default 0,
  events integer not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index webhook_replays_open on webhook_replays (replay_id) where finished_at is null;

-- Zero: the delivery has a place at its destination and may be sent. Otherwise the seconds after which to ask again. A
-- destination whose breaker is open gets nothing until its time has come, and then one message, to see.
create function take_webhook_place(of_delivery uuid, of_destination text, of_host text, places integer, per_second double precision)
returns double precision language plpgsql as $$
declare
  health record;
  taken record;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook/' || of_destination, 0));
  select open_until, probe_until into health from webhook_health where destination = of_destination;
  if health.open_until > clock_timestamp() then
    return extract(epoch from health.open_until - clock_timestamp());
  end if;
  if health.open_until is not null and health.probe_until > clock_timestamp() then
    return extract(epoch from health.probe_until - clock_timestamp());
  end if;
  if (select count(*) from open_deliveries
      where destination = of_destination and busy_until > clock_timestamp() and delivery_id <> of_delivery) >= places then
    return 0.3 + random() * 0.5;
  end if;
  select * into taken from take_tokens('webhook/' || of_host, greatest(1, per_second), per_second, 1, 0);
  if taken.granted = 0 then
    return (1 - taken.remaining) / per_second + random() * 0.5;
  end if;
  if health.open_until is not null then
    update webhook_health set probe_until = clock_timestamp() + interval '30 seconds' where destination = of_destination;
  end if;
  update open_deliveries set busy_until = clock_timestamp() + interval '60 seconds' where delivery_id = of_delivery;
  return 0;
end $$;

-- What may be sent now, oldest first at each destination and never more than the destination takes: the rest stays here,
-- where a dead receiver's ten thousand stand in nobody's way. Destinations come in any order, so that none is always last.
create function dispatch_deliveries(places integer, per_second double precision, most integer)
returns table (delivery_id uuid, tenant_id uuid, round bigint) language plpgsql as $$
#variable_conflict use_column
declare
  queue record;
  item record;
  sent integer := 0;
begin
  for queue in
    with recursive found as (
      (select destination, due_at from open_deliveries where dispatched_at is null order by destination, due_at limit 1)
      union all
      select next.destination, next.due_at from found, lateral (
        select destination, due_at from open_deliveries
        where dispatched_at is null and destination > found.destination order by destination, due_at limit 1) as next
    )
    select destination from found where due_at <= clock_timestamp() order by random()
  loop
    exit when sent >= most;
    -- Somebody is taking a place there at this moment: it is looked at in the next round.
    continue when not pg_try_advisory_xact_lock(hashtextextended('webhook/' || queue.destination, 0));
    for item in
      select open.delivery_id, open.tenant_id, open.round, open.host from open_deliveries as open
      where open.destination = queue.destination and open.dispatched_at is null and open.due_at <= clock_timestamp()
      order by open.due_at limit places for update skip locked
    loop
      exit when take_webhook_place(item.delivery_id, queue.destination, item.host, places, per_second) > 0;
      update open_deliveries as open
      -- Soon it is heard of, or it was lost on the way to the engine.
      set dispatched_at = clock_timestamp(), alive_until = clock_timestamp() + interval '20 seconds'
      where open.delivery_id = item.delivery_id;
      delivery_id := item.delivery_id;
      tenant_id := item.tenant_id;
      round := item.round;
      sent := sent + 1;
      return next;
    end loop;
  end loop;
end $$;

create or replace function make_partitions(first date, days integer) returns void language plpgsql as $$
declare
  parent text;
  day date;
begin
  foreach parent in array array['runs', 'jobs', 'attempts', 'assets', 'events', 'run_references', 'transfers',
    'webhook_deliveries', 'webhook_attempts'] loop
    for day in select generate_series(first, first + days - 1, interval '1 day')::date loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        -- Room in each page for the changes that a row sees.
        execute format('create table %I partition of %I for values from (%L) to (%L) with (fillfactor = %s)',
          format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'),
          case when parent in ('transfers', 'webhook_attempts') then 100 else 70 end);
      end if;
    end loop;
  end loop;
end $$;

-- Days of the delivery log before this one are gone at once.
create function drop_webhook_days(before date) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  day record;
  dropped integer := 0;
begin
  for day in
    select inhrelid::regclass as name from pg_inherits
    where inhparent in ('webhook_deliveries'::regclass, 'webhook_attempts'::regclass)
      and right(inhrelid::regclass::text, 8) ~ '^\d{8}$'
      and to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') < before
  loop
    execute format('drop table %s', day.name);
    dropped := dropped + 1;
  end loop;
  delete from webhook_attempts_before where delivery_id < uuid_floor(before::timestamp at time zone 'UTC');
  delete from webhook_deliveries_before where delivery_id < uuid_floor(before::timestamp at time zone 'UTC');
  return dropped;
end $$;
revoke execute on function drop_webhook_days(date) from public;
grant execute on function drop_webhook_days(date) to gesso_system;

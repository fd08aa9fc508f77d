-- Scheduling state shared by all processes: concurrency slots, rate limits and circuit breakers of providers, start
-- rates of queues, leases, and the engine incarnation.

-- Whether the tenant and the API key may have one more open run. The lock is held until the accepting statement
-- commits, so that concurrent requests do not count the same free capacity.
create function is_below_open_run_limit(of_tenant uuid, most integer, of_key uuid, most_of_key integer) returns boolean
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('open/' || of_tenant, 0));
  return (select (most is null or count(*) < most) and
      (most_of_key is null or count(*) filter (where key_id = of_key) < most_of_key)
    from open_runs where tenant_id = of_tenant);
end $$;

-- Claims a concurrency slot of a provider if one is free and no request has waited for it longer. Requests ask in
-- intervals, so a free slot goes to one of the longest-waiting few instead of staying empty until the first asks again.
-- Requests that have not asked for 4 seconds are skipped. The count runs after the lock is acquired, so that no two
-- processes claim one slot.
create function claim_provider_slot(of_provider text, of_run uuid, of_epoch integer, of_request smallint, slots integer)
returns boolean language plpgsql as $$
declare
  candidates constant integer := 2;
  since timestamptz;
  free integer;
begin
  if exists (
    select from open_runs join open_requests using (run_id)
    where run_id = of_run and epoch = of_epoch and request_index = of_request and provider_slot = of_provider
  ) then
    return true;
  end if;
  perform pg_advisory_xact_lock(hashtext('provider-slot/' || of_provider));
  insert into open_requests (run_id, request_index, tenant_id, lane)
  select run_id, of_request, tenant_id, lane from open_runs where run_id = of_run and epoch = of_epoch
  on conflict do nothing;
  select case when slot_provider = of_provider then slot_wanted_since else clock_timestamp() end into since
  from open_runs join open_requests using (run_id)
  where run_id = of_run and epoch = of_epoch and request_index = of_request;
  if not found then
    return false;
  end if;
  free := slots - (select count(*) from open_requests where provider_slot = of_provider);
  if free > 0 and (
    select count(*) from open_requests where slot_provider = of_provider and slot_wanted_since < since
      and slot_last_asked_at > clock_timestamp() - interval '4 seconds'
  ) < free + candidates then
    update open_requests set provider_slot = of_provider, slot_provider = null, slot_wanted_since = null,
      slot_last_asked_at = null
    where run_id = of_run and request_index = of_request;
    return true;
  end if;
  update open_requests set slot_provider = of_provider, slot_wanted_since = since,
    slot_last_asked_at = clock_timestamp()
  where run_id = of_run and request_index = of_request;
  return false;
end $$;

-- Token bucket of requests per provider.
create table provider_rate_limits (
  provider text primary key,
  tokens double precision not null,
  filled_at timestamptz not null default clock_timestamp()
);

-- Returns 0 if a request may be sent now, otherwise the seconds until then. The bucket holds a tenth of a minute's
-- requests.
create function take_rate_limit_token(of_provider text, per_minute double precision) returns double precision
language plpgsql as $$
declare
  most double precision := greatest(1, per_minute / 10);
  have double precision;
begin
  insert into provider_rate_limits (provider, tokens) values (of_provider, most) on conflict do nothing;
  select least(most, tokens + extract(epoch from clock_timestamp() - filled_at) * per_minute / 60) into have
  from provider_rate_limits where provider = of_provider for update;
  if have < 1 then
    return (1 - have) * 60 / per_minute;
  end if;
  update provider_rate_limits set tokens = have - 1, filled_at = clock_timestamp() where provider = of_provider;
  return 0;
end $$;

-- Offers that failed recently. No row means healthy, so a success of a healthy offer writes nothing.
create table circuit_breakers (
  provider text not null,
  upstream text not null,
  failures integer not null default 0,
  openings integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  changed_at timestamptz not null default now(),
  primary key (provider, upstream)
);

-- Starts per second of each tenant, for the estimated wait of a queued run.
create table queue_start_rates (
  tenant_id uuid primary key,
  per_second double precision not null,
  measured_at timestamptz not null default now()
);

-- Leases of work that one process does at a time: the dispatcher, the poller of a provider, the reconciler.
create table leases (
  name text primary key,
  holder text not null,
  until timestamptz not null
);

-- One row: the marker stored in the engine. An engine without this marker has lost its journal.
create table engine_incarnation (
  id boolean primary key default true check (id),
  incarnation uuid not null,
  set_at timestamptz not null default now()
);

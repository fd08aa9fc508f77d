-- Scheduling state shared by all processes: concurrency slots, rate limits and circuit breakers of providers, start
-- rates of queues, leases, workers, pauses, the outbox, and the engine incarnation.

-- Starts per second of each tenant, for the estimated wait of a queued run.
create table queue_start_rates (
  tenant_id uuid primary key,
  per_second double precision not null,
  measured_at timestamptz not null default now()
);
comment on table queue_start_rates is
  'How fast the runs of each tenant have been starting, for estimates of the queue.';

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
comment on table circuit_breakers is
  'Failures of each model of a provider, and when requests are tried again.';

-- Token bucket of requests per provider.
create table provider_rate_limits (
  provider text primary key,
  tokens double precision not null,
  filled_at timestamptz not null default clock_timestamp()
);
comment on table provider_rate_limits is
  'Requests per minute to each provider, shared by all processes.';

-- Leases of work that one process does at a time: the dispatcher, the poller of a provider, the reconciler.
create table leases (
  name text primary key,
  holder text not null,
  until timestamptz not null
);
comment on table leases is
  'Which process holds each lease, such as that of a background duty.';

-- The workers that run, each by its own report. A worker that was killed stops reporting.
create table workers (
  worker_id uuid primary key,
  host text not null,
  version text not null,
  -- The URI of its deployment in the engine, with the build.
  url text not null,
  state text not null check (state in ('serving', 'draining', 'drained')),
  -- Runs that the engine executes on this worker now.
  runs integer not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
) with (fillfactor = 50);
comment on table workers is
  'The workers that run, each by its own report.';

-- Providers, tenants and duties that start nothing until an operator resumes them.
create table pauses (
  kind text not null check (kind in ('provider', 'tenant', 'duty', 'worker')),
  name text not null,
  paused_at timestamptz not null default now(),
  paused_by text not null,
  primary key (kind, name)
);
comment on table pauses is
  'What operators have paused, until they resume it.';

-- Idempotent work that follows a committed change: cancel a job at its provider, delete files.
create table outbox (
  outbox_id uuid primary key,
  kind text not null,
  payload jsonb not null,
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
comment on table outbox is
  'Calls to other systems that follow from a committed statement: cancel a job, delete files.';
create index outbox_due on outbox (due_at);

-- A tenant only deletes its own files; all other work of the outbox comes from background duties.
-- A prefix is that of one run of the tenant: not of its archive, and not of all its runs.
create function limit_tenant_outbox() returns trigger language plpgsql as $$
begin
  if new.kind <> 'delete_files' or jsonb_typeof(new.payload -> 'keys') is distinct from 'array' or exists (
    select from jsonb_array_elements_text(new.payload -> 'keys') as item (storage_key)
    where not is_key_of_current_tenant(item.storage_key)
  ) or (new.payload ? 'run_prefix' and coalesce(
    new.payload ->> 'run_prefix' !~ ('^t/' || current_tenant_id() || '/r/[0-9a-f-]{36}/$'), true)
  ) then
    raise exception 'the outbox takes only deletions of the tenant''s own files'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
comment on function limit_tenant_outbox is
  'Lets the role of a tenant only ask for the deletion of the own files. All other work comes from background duties.';

create trigger limit_tenant_outbox before insert on outbox for each row
  when (current_user in ('gesso_app', 'gesso_end_user')) execute function limit_tenant_outbox();

-- One row: the marker stored in the engine. An engine without this marker has lost its journal.
create table engine_incarnation (
  id boolean primary key default true check (id),
  incarnation uuid not null,
  set_at timestamptz not null default now()
);
comment on table engine_incarnation is
  'The marker of the engine. Another one means that the engine has lost its journal.';

-- Returns 0 if a request may be sent now, otherwise the seconds until then. The bucket holds a tenth of a minute's
-- requests.
create function take_rate_limit_token(of_provider text, per_minute double precision)
returns double precision language plpgsql as $$
declare
  most double precision := greatest(1, per_minute / 10);
  have double precision;
begin
  insert into provider_rate_limits (provider, tokens) values (of_provider, most) on conflict do nothing;
  update provider_rate_limits set filled_at = clock_timestamp()
  where provider = of_provider and filled_at > clock_timestamp() + interval '1 second';
  select least(most, tokens + greatest(0, extract(epoch from clock_timestamp() - filled_at)) * per_minute / 60)
  into have from provider_rate_limits where provider = of_provider for update;
  if have < 1 then
    return (1 - have) * 60 / per_minute;
  end if;
  update provider_rate_limits set tokens = have - 1, filled_at = clock_timestamp() where provider = of_provider;
  return 0;
end $$;

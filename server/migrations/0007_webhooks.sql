-- Webhooks: endpoints, signing secrets, deliveries and their attempts, replays and listeners.
--
-- One reader of the event log creates the deliveries in the statement that advances its cursor, and a delivery id is
-- derived from event and destination: no delivery is lost and none is created twice. Deliveries in progress are in
-- `open_deliveries`; the row is the right to end the delivery.
set local check_function_bodies = off;

create sequence delivery_epochs;

create table webhook_endpoints (
  webhook_id uuid primary key,
  tenant_id uuid not null,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('asked', 'gone', 'failing', 'not_allowed')),
  disabled_at timestamptz,
  -- Since when no delivery has succeeded; null while the last one did.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (enabled = (disabled_at is null)),
  check (enabled = (disabled_reason is null))
);
comment on table webhook_endpoints is
  'Endpoints of tenants that receive events.';
create index webhook_endpoints_by_tenant on webhook_endpoints (tenant_id, webhook_id);

-- Signing secrets, encrypted with a key that the database does not have. The owner is an endpoint, a run, a listener,
-- or the tenant itself (nil id). The current secret has no end; a rotated secret ends after the overlap.
create table webhook_secrets (
  tenant_id uuid not null,
  owner_id uuid not null,
  secret_id uuid not null,
  key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz,
  primary key (tenant_id, owner_id, secret_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table webhook_secrets is
  'Sealed secrets that sign messages, of endpoints, tenants and runs.';
create unique index webhook_secrets_current on webhook_secrets (tenant_id, owner_id) where ends_at is null;
create index webhook_secrets_by_end on webhook_secrets (ends_at) where ends_at is not null;

-- `body` is the exact payload of every attempt; null after the run was deleted.
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
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table webhook_deliveries is
  'Messages to endpoints and to the webhook URLs of runs.';
create index webhook_deliveries_by_tenant on webhook_deliveries (tenant_id, delivery_id desc);
create index webhook_deliveries_by_run on webhook_deliveries (run_id) where run_id is not null;
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, delivery_id desc)
  where webhook_id is not null;

-- `epoch` is the fencing token of engine invocations; no value is used twice. Deliveries of one `destination` share a
-- queue, a concurrency limit and a circuit breaker: an endpoint, or all runs of a tenant whose webhook_url has the
-- same origin.
create table open_deliveries (
  delivery_id uuid primary key,
  tenant_id uuid not null,
  run_id uuid,
  webhook_id uuid,
  destination text not null,
  host text not null,
  epoch bigint not null default nextval('delivery_epochs'),
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  -- End of the retry schedule.
  expires_at timestamptz not null,
  dispatched_at timestamptz,
  -- Concurrency slot at the destination; it expires by itself.
  slot_until timestamptz,
  -- Lease of the current step. The reconciler requeues the delivery afterwards.
  claim_expires_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table open_deliveries is
  'The deliveries that are not finished: their queue and claims.';
create index open_deliveries_waiting on open_deliveries (destination, due_at) where dispatched_at is null;
create index open_deliveries_with_slot on open_deliveries (destination) where slot_until is not null;
create index open_deliveries_by_webhook on open_deliveries (webhook_id) where webhook_id is not null;
create index open_deliveries_by_run on open_deliveries (run_id) where run_id is not null;
create index open_deliveries_by_expiry on open_deliveries (expires_at);

create table webhook_attempts (
  delivery_id uuid not null,
  attempt smallint not null,
  tenant_id uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status smallint,
  error text,
  -- The beginning of the response body. Untrusted: only ever shown as text.
  response text,
  primary key (delivery_id, attempt)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table webhook_attempts is
  'Every request of a delivery with its response.';

-- Destinations that failed recently. No row means healthy.
create table webhook_circuit_breakers (
  destination text primary key,
  tenant_id uuid not null,
  failures integer not null default 0,
  openings integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  changed_at timestamptz not null default now()
);
comment on table webhook_circuit_breakers is
  'Failures of each destination, and when it is tried again.';

-- Position of the fan-out in the event log. It starts at the horizon: earlier events create no deliveries.
create table webhook_cursor (
  id boolean primary key default true check (id),
  xact bigint not null,
  seq bigint not null
);
comment on table webhook_cursor is
  'How far the event log has become deliveries.';

insert into webhook_cursor (xact, seq) select event_log_horizon(), 0;

-- Ranges of the event log to send again to one endpoint, each with its position.
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
comment on table webhook_replays is
  'Requests to send the events of a period again.';
create index webhook_replays_open on webhook_replays (replay_id) where finished_at is null;

-- Programs (`gesso webhooks listen`) that read the event log and forward events to a URL that only they can reach.
-- The results of their attempts are deliveries with the listener's id.
create table webhook_listeners (
  listener_id uuid primary key,
  tenant_id uuid not null,
  name text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table webhook_listeners is
  'Command lines that receive events with gesso webhooks listen.';
create index webhook_listeners_by_tenant on webhook_listeners (tenant_id, seen_at);

-- When a progress event of a run was last sent.
create table webhook_progress_sent (
  run_id uuid primary key,
  sent_at timestamptz not null
);
comment on table webhook_progress_sent is
  'When the last progress of a run was sent, so that it is sent rarely.';

-- Events that could not become deliveries, with the reason. The cursor has moved past them. Each is tried again at
-- `retry_at`, until its deliveries are inserted.
create table webhook_set_aside_events (
  event_id uuid primary key,
  run_id uuid not null,
  tenant_id uuid not null,
  type text not null,
  reason text not null,
  set_aside_at timestamptz not null default now(),
  retry_at timestamptz not null default now() + interval '1 hour'
);
comment on table webhook_set_aside_events is
  'Events that could not become deliveries. They are tried again every hour.';
create index webhook_set_aside_events_by_retry on webhook_set_aside_events (retry_at);

-- Returns 0 if the delivery now has a concurrency slot at its destination, otherwise the seconds after which to ask
-- again. While the circuit breaker of a destination is open, nothing is sent; then one delivery is sent as a probe.
create function claim_destination_slot(of_delivery uuid, of_destination text, of_host text, slots integer,
  per_second double precision)
returns double precision language plpgsql as $$
declare
  breaker record;
  taken record;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook/' || of_destination, 0));
  select open_until, probe_until into breaker from webhook_circuit_breakers where destination = of_destination;
  if breaker.open_until > clock_timestamp() then
    return extract(epoch from breaker.open_until - clock_timestamp());
  end if;
  if breaker.open_until is not null and breaker.probe_until > clock_timestamp() then
    return extract(epoch from breaker.probe_until - clock_timestamp());
  end if;
  if (select count(*) from open_deliveries
      where destination = of_destination and slot_until > clock_timestamp()
        and delivery_id <> of_delivery) >= slots then
    return 0.3 + random() * 0.5;
  end if;
  select * into taken from take_tokens('webhook/' || of_host, greatest(1, per_second), per_second, 1, 0);
  if taken.granted = 0 then
    return (1 - taken.remaining) / per_second + random() * 0.5;
  end if;
  if breaker.open_until is not null then
    update webhook_circuit_breakers set probe_until = clock_timestamp() + interval '30 seconds'
    where destination = of_destination;
  end if;
  update open_deliveries set slot_until = clock_timestamp() + interval '60 seconds' where delivery_id = of_delivery;
  return 0;
end $$;

-- As `dispatch_deliveries`, without the deliveries of suspended tenants. A destination belongs to one tenant.
create function dispatch_active_deliveries(slots integer, per_second double precision, most integer)
returns table (delivery_id uuid, tenant_id uuid, epoch bigint) language plpgsql as $$
#variable_conflict use_column
declare
  queue record;
  item record;
  sent integer := 0;
begin
  for queue in
    with recursive found as (
      (select destination, tenant_id, due_at from open_deliveries where dispatched_at is null
       order by destination, due_at limit 1)
      union all
      select next.destination, next.tenant_id, next.due_at from found, lateral (
        select destination, tenant_id, due_at from open_deliveries
        where dispatched_at is null and destination > found.destination order by destination, due_at limit 1) as next
    )
    select destination from found
    where due_at <= clock_timestamp()
      -- A scalar subquery looks one tenant up; `not exists` could become a join that reads all tenants.
      and (select suspended_at from tenants where tenants.tenant_id = found.tenant_id) is null
    order by random()
  loop
    exit when sent >= most;
    -- Another process is claiming slots there: the next dispatch visits the destination again.
    continue when not pg_try_advisory_xact_lock(hashtextextended('webhook/' || queue.destination, 0));
    for item in
      select open.delivery_id, open.tenant_id, open.epoch, open.host from open_deliveries as open
      where open.destination = queue.destination and open.dispatched_at is null and open.due_at <= clock_timestamp()
      order by open.due_at limit slots for update skip locked
    loop
      exit when claim_destination_slot(item.delivery_id, queue.destination, item.host, slots, per_second) > 0;
      update open_deliveries as open
      -- If the engine does not start the delivery within the lease, the reconciler requeues it.
      set dispatched_at = clock_timestamp(), claim_expires_at = clock_timestamp() + interval '20 seconds'
      where open.delivery_id = item.delivery_id;
      delivery_id := item.delivery_id;
      tenant_id := item.tenant_id;
      epoch := item.epoch;
      sent := sent + 1;
      return next;
    end loop;
  end loop;
end $$;

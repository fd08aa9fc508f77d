-- The event log, in commit-safe order.
--
-- An event has the id of the transaction that wrote it and a sequence number. An open transaction may still write
-- events, so readers stop below the oldest open one; no event can appear behind them, and no writer waits for
-- another. `run_id` is the run of the event; an event without a run has its own id there.
set local check_function_bodies = off;

create sequence event_numbers;

create function event_xact() returns bigint language sql as $$
  select pg_current_xact_id()::text::bigint + xact_offset from event_clock
$$;

create table events (
  run_id uuid not null,
  event_id uuid not null,
  tenant_id uuid not null,
  type text not null,
  data jsonb not null default '{}',
  terminal boolean not null default false,
  xact bigint not null default event_xact(),
  seq bigint not null default nextval('event_numbers'),
  created_at timestamptz not null default now(),
  primary key (run_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table events is
  'The event log: what happened to runs and webhooks, in the order of commits.';
create unique index events_one_end on events (run_id) where terminal;
create index events_in_order on events (xact, seq);
create index events_by_tenant on events (tenant_id, xact, seq);

-- Transaction ids are counted by the cluster. After a restore into another cluster they may be behind the log:
-- `xact_offset` then lifts new events above all stored ones.
create table event_clock (
  id boolean primary key default true check (id),
  xact_offset bigint not null default 0,
  -- The cluster and its timeline when the last process started. PostgreSQL begins a new timeline after each restore to
  -- a point in time, and after each failover.
  timeline text
);
comment on table event_clock is
  'Lifts new positions of the event log above all stored ones after a restore into another cluster.';

insert into event_clock default values;

-- Positions that no event has or will ever have: those of lost events are among them.
create table lost_event_positions (
  from_xact bigint primary key,
  until_xact bigint not null,
  noticed_at timestamptz not null default now()
);
comment on table lost_event_positions is
  'Positions that no event has or will ever have: those of events that a restore has lost are among them.';

-- Below the horizon the log is final.
create function event_log_horizon() returns bigint language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + xact_offset from event_clock
$$;

-- The position of a time in the log, by bisection: the highest transaction id of which an event is older than `moment`
-- and no event above it is; 0 if there is none. The time of an event is the start of its transaction, so positions
-- follow times only up to the length of a transaction: callers add a margin to `moment`.
create function event_xact_at(moment timestamptz) returns bigint language plpgsql stable as $$
declare
  low bigint := 0;
  high bigint := (select max(xact) + 1 from events);
  middle bigint;
  probe record;
begin
  while high - low > 1 loop
    middle := (low + high) / 2;
    select xact, created_at into probe from events where xact >= middle order by xact, seq limit 1;
    if probe.created_at < moment then
      low := probe.xact;
    else
      high := middle;
    end if;
  end loop;
  return low;
end $$;

-- Null if the server does not say it, as some managed services.
create function event_log_timeline() returns text language plpgsql as $$
begin
  return (select system_identifier from pg_control_system()) || '/'
    || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
exception when others then
  return null;
end $$;

-- Called at the start of each process. Returns whether the log goes on at higher positions. The lock waits for
-- transactions that took a position, and holds back others until the positions are lifted. If it is not granted in
-- time, the next start tries again.
create function notice_restored_event_log() returns boolean language plpgsql set lock_timeout = '2s' as $$
declare
  lift constant bigint := 4294967296;
  current_timeline constant text := event_log_timeline();
  clock record;
  next_xact bigint;
begin
  if current_timeline is null or exists (select from event_clock where timeline = current_timeline) then
    return false;
  end if;
  lock table event_clock in access exclusive mode;
  select timeline, xact_offset into clock from event_clock;
  if clock.timeline = current_timeline then
    return false;
  end if;
  update event_clock set timeline = current_timeline;
  if clock.timeline is null then
    return false;
  end if;
  next_xact := pg_snapshot_xmax(pg_current_snapshot())::text::bigint + clock.xact_offset;
  if split_part(clock.timeline, '/', 1) <> split_part(current_timeline, '/', 1) then
    -- Transaction numbers of another cluster say nothing about this one.
    next_xact := least(next_xact, (select max(xact) + 1 from events));
  end if;
  insert into lost_event_positions (from_xact, until_xact)
  values (next_xact, event_log_horizon() + lift);
  update event_clock set xact_offset = xact_offset + lift;
  return true;
exception when lock_not_available then
  return false;
end $$;

-- The event log, in commit-safe order.
--
-- An event has the id of the transaction that wrote it and a sequence number. An open transaction may still write
-- events, so readers stop below the oldest open one; no event can appear behind them, and no writer waits for
-- another. `run_id` is the run of the event; an event without a run has its own id there, so that it too belongs to a
-- partition.

-- Transaction ids are counted by the cluster. After a restore into another cluster they may be behind the log:
-- `xact_offset` then lifts new events above all stored ones.
create table event_clock (
  id boolean primary key default true check (id),
  xact_offset bigint not null default 0
);
insert into event_clock default values;

create sequence event_numbers;

create function event_xact() returns bigint language sql as $$
  select pg_current_xact_id()::text::bigint + xact_offset from event_clock
$$;

-- Below the horizon the log is final.
create function event_log_horizon() returns bigint language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + xact_offset from event_clock
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
) partition by range (run_id);

create unique index events_one_end on events (run_id) where terminal;
create index events_in_order on events (xact, seq);
create index events_by_tenant on events (tenant_id, xact, seq);

-- Drops the partitions of days before `before`, except those that contain an open run. The short lock timeout keeps
-- readers and writers from waiting behind it; the next maintenance tries again.
create function drop_event_partitions(before date) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  day record;
  dropped integer := 0;
begin
  for day in
    select inhrelid::regclass as name, to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') as date
    from pg_inherits where inhparent = 'events'::regclass order by 1
  loop
    continue when day.date >= before or exists (
      select from open_runs where run_id >= uuid_floor(day.date::timestamp at time zone 'UTC')
        and run_id < uuid_floor((day.date + 1)::timestamp at time zone 'UTC'));
    execute format('drop table %s', day.name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

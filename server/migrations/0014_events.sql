-- The log of events, in an order that a reader with a position can trust.
--
-- An event carries the transaction that wrote it and a number within it. A transaction that is still under way may yet
-- write; so readers stop below the oldest of those, and nothing can appear behind them later. No writer waits for another.
-- `run_id` is the run that an event is of; an event of no run stands there itself, so that it too has a day.

-- Transactions are counted by the cluster. One that a database was restored into may be behind the one that it came from:
-- `shift` then lifts what it counts above everything that is already in the log.
create table event_clock (
  id boolean primary key default true check (id),
  shift bigint not null default 0
);
insert into event_clock default values;
grant select on event_clock to gesso_app;

create sequence event_numbers;
grant usage on sequence event_numbers to gesso_app, gesso_system;

create function event_xact() returns bigint language sql as $$
  select pg_current_xact_id()::text::bigint + shift from event_clock
$$;

-- Below it the log is final.
create function event_horizon() returns bigint language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift from event_clock
$$;

alter table events add column xact bigint not null default event_xact();
alter table events add column seq bigint not null default nextval('event_numbers');

-- The newest event of a run. A change that waited for another one's is told after it, though its transaction may be the
-- older one: it takes over the place that it finds here.
alter table runs add column told_xact bigint not null default 0;

create index events_in_order on events (xact, seq);
create index events_of_tenant on events (tenant_id, xact, seq);

-- Days before this one are gone at once, without a row being touched, unless a run of such a day is still open. Whoever
-- reads or writes at this moment is not kept waiting for long: then it is done another time.
create function drop_event_days(before date) returns integer
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
revoke execute on function drop_event_days(date) from public;
grant execute on function drop_event_days(date) to gesso_system;

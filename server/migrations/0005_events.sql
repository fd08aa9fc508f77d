-- The event log, in commit-safe order.
--
-- An event has the id of the transaction that wrote it and a sequence number. An open transaction may still write
-- events, so readers stop below the oldest open one; no event can appear behind them, and no writer waits for
-- another. `run_id` is the run of the event; an event without a run has its own id there.

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
);

create unique index events_one_end on events (run_id) where terminal;
create index events_in_order on events (xact, seq);
create index events_by_tenant on events (tenant_id, xact, seq);

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

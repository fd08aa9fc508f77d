-- expand: a log that was restored to an earlier time goes on above all positions that readers may have of the lost
-- period. The program before it neither notices a restore nor refuses such positions.

-- The cluster and its timeline when the last process started. PostgreSQL begins a new timeline after each restore to a
-- point in time, and after each failover.
alter table event_clock add column timeline text;

-- Positions that no event has or will ever have: those of lost events are among them.
create table lost_event_positions (
  from_xact bigint primary key,
  until_xact bigint not null,
  noticed_at timestamptz not null default now()
);
grant select on lost_event_positions to gesso_app;

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

-- expand: processes that start at the same time on a new or restored database no longer end in a deadlock

-- Called at the start of each process. Returns whether the log goes on at higher positions. The lock of the table waits
-- for transactions that took a position, and holds back others until the positions are lifted. If it is not granted in
-- time, the next start tries again. Processes come here one after the other: two that had both read the table would
-- wait for each other.
create or replace function notice_restored_event_log() returns boolean language plpgsql set lock_timeout = '2s' as $$
declare
  lift constant bigint := 4294967296;
  current_timeline constant text := event_log_timeline();
  clock record;
  next_xact bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('event-clock', 0));
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

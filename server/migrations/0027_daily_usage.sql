-- expand: daily sums of ended runs and their cost, so that usage does not read the runs

-- Ended runs without uploads, by the day of acceptance (UTC). A run counts once, when it has ended: after that, neither
-- its status nor its cost changes, and a deleted run keeps both. A background duty adds the runs from the event log.
create table daily_usage (
  tenant_id uuid not null,
  day date not null,
  operation text not null,
  model text,
  key_id uuid,
  completed bigint not null,
  failed bigint not null,
  canceled bigint not null,
  -- Completed runs without a cost.
  unpriced bigint not null,
  -- In US dollars, as in `runs.cost`.
  amount numeric not null,
  unique nulls not distinct (tenant_id, day, operation, model, key_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The sums contain every run whose end is an event up to this position, and no other run. The position advances in the
-- statement that adds to the sums. `xact` is null before the first turn of the duty; setting it to null rebuilds the sums.
create table daily_usage_cursor (
  id boolean primary key default true check (id),
  xact bigint,
  seq bigint,
  -- Runs that had ended before this position of the log are added by id, newest first. Those below `backfill_before` are
  -- not added yet; null when all of them are.
  backfill_xact bigint,
  backfill_before uuid,
  -- When the duty last found no more events or added some.
  read_at timestamptz
) with (fillfactor = 50);
insert into daily_usage_cursor default values;

grant select on daily_usage_cursor to gesso_app;

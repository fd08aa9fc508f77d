-- References between runs other than the parent: which pictures a run was made of. A run's tree is found by its root.
create table run_references (
  run_id uuid not null,
  source_run_id uuid not null,
  root_run_id uuid not null,
  primary key (run_id, source_run_id)
) partition by range (run_id);

create index run_references_by_root on run_references (root_run_id);
create index runs_by_root on runs (root_run_id, run_id);

create or replace function make_partitions(first date, days integer) returns void language plpgsql as $$
declare
  parent text;
  day date;
begin
  foreach parent in array array['runs', 'jobs', 'attempts', 'assets', 'events', 'run_references'] loop
    for day in select generate_series(first, first + days - 1, interval '1 day')::date loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        execute format('create table %I partition of %I for values from (%L) to (%L)',
          format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'));
      end if;
    end loop;
  end loop;
end $$;

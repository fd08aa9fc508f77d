-- Daily partitions. Every start and the daily maintenance create those of the next days. The owner of the tables also
-- owns the partitions, whichever role asks for them.
create function create_partitions(first date, days integer) returns void
language plpgsql security definer set search_path from current as $$
declare
  parent text;
  day date;
begin
  foreach parent in array array['runs', 'planned_requests', 'attempts', 'assets', 'events', 'run_references',
    'transfers', 'webhook_deliveries', 'webhook_attempts'] loop
    for day in select generate_series(first, first + days - 1, interval '1 day')::date loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        -- The fill factor leaves space in each page for heap-only updates; insert-only tables need none.
        execute format('create table %I partition of %I for values from (%L) to (%L) with (fillfactor = %s)',
          format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'),
          case when parent in ('transfers', 'webhook_attempts') then 100 else 70 end);
      end if;
    end loop;
  end loop;
end $$;

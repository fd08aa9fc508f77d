-- Who waits before a provider that takes no more is served in the order of coming. Before, whoever happened to ask when a
-- place became free got it, and that was most often one who had just come: a run could stand there until all others had
-- passed.
alter table open_runs
  -- The provider before which it waits, since when, and when it last asked.
  add column gate text,
  add column gate_since timestamptz,
  add column gate_asked_at timestamptz;
create index open_runs_at_gate on open_runs (gate) where gate is not null;

-- A place at a provider, if one is free and nobody has waited for it longer. Those who wait ask now and then, so a free
-- place is given to one of the first few rather than left empty until the very first asks again. Who has not asked for a
-- while is lost, or was held up, and is not waited for.
create or replace function take_place(of_provider text, of_run uuid, of_epoch integer, places integer) returns boolean
language plpgsql as $$
declare
  candidates constant integer := 2;
  since timestamptz;
  free integer;
begin
  if exists (select from open_runs where run_id = of_run and epoch = of_epoch and occupies = of_provider) then
    return true;
  end if;
  perform pg_advisory_xact_lock(hashtext('place/' || of_provider));
  select case when gate = of_provider then gate_since else clock_timestamp() end into since
  from open_runs where run_id = of_run and epoch = of_epoch;
  free := places - (select count(*) from open_runs where occupies = of_provider);
  if free > 0 and (
    select count(*) from open_runs where gate = of_provider and gate_since < since
      and gate_asked_at > clock_timestamp() - interval '4 seconds'
  ) < free + candidates then
    update open_runs set occupies = of_provider, gate = null, gate_since = null, gate_asked_at = null
    where run_id = of_run and epoch = of_epoch;
    return true;
  end if;
  update open_runs set gate = of_provider, gate_since = since, gate_asked_at = clock_timestamp()
  where run_id = of_run and epoch = of_epoch;
  return false;
end $$;

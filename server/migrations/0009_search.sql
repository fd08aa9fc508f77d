-- The index of runs: one array of hashed terms for each run, counts by month, and starred or tagged runs.
set local check_function_bodies = off;

-- A term of a tenant, such as `word:harbour`, as a number. Numbers of different terms are practically never the same.
create function term_hash(of_tenant uuid, term text) returns bigint language sql immutable as $$
  select hashtextextended(of_tenant::text || ' ' || term, 0)
$$;

-- One row per run. `terms` has the terms of the run, and the periods in which its id was made: an index of arrays has
-- no order, so a search asks for the newest periods first. A run is indexed when it is accepted and when it has ended.
-- The row of a deleted run stays without terms: a duty that has read the run before the deletion inserts nothing.
create table run_index (
  run_id uuid primary key,
  tenant_id uuid not null,
  is_open boolean not null,
  terms bigint[] not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table run_index is
  'The index of runs: hashes of the words of the prompt, the field values and the periods of each run.';

-- Open runs are not in it: they are few, and each would be inserted twice. Every search reads the whole list of pending
-- entries, so it is kept short.
create index run_index_terms on run_index using gin (terms) with (gin_pending_list_limit = 128) where not is_open;

create index run_index_open on run_index (tenant_id, run_id) where is_open;

-- Runs by month of acceptance (UTC) for each hashed term that is not a word. The empty term counts all runs.
create table run_counts (
  tenant_id uuid not null,
  term bigint not null,
  month date not null,
  runs bigint not null,
  primary key (tenant_id, term, month)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table run_counts is
  'Number of runs of each tenant by term and month.';

-- The position of the duty in the event log; null before its first turn. Runs below `backfill_before` were accepted
-- before that turn and are not indexed yet; null when all of them are.
create table run_index_position (
  id boolean primary key default true check (id),
  xact bigint,
  seq bigint,
  backfill_before uuid
);
comment on table run_index_position is
  'How far the event log and older runs are indexed.';

insert into run_index_position (backfill_before) values ('ffffffff-ffff-ffff-ffff-ffffffffffff');

-- Stars and tags, as a sorted list of runs per star or tag: they change at any time, and one search often has them all.
create table marked_runs (
  tenant_id uuid not null,
  term text collate "C" not null,
  run_id uuid not null,
  primary key (tenant_id, term, run_id)
);
comment on table marked_runs is
  'The index of stars and tags.';

create function term_hashes(of_tenant uuid, of_terms text[]) returns bigint[] language sql immutable as $$
  select array(select hashtextextended(of_tenant::text || ' ' || term, 0) from unnest(of_terms) as term)
$$;

-- Periods of 1 minute, 35 minutes, 19 hours and 25 days, as powers of two in milliseconds.
create function run_period_shifts() returns integer[] language sql immutable as $$ select array[16, 21, 26, 31] $$;

create function period_hash(of_tenant uuid, shift integer, period bigint) returns bigint language sql immutable as $$
  select hashtextextended(of_tenant::text || ' period:' || shift || ':' || period, 0)
$$;

-- Periods that cover a time, of the shortest kind of which a few are enough.
create function covering_periods(of_tenant uuid, from_ms bigint, to_ms bigint) returns bigint[]
language plpgsql immutable as $$
declare
  shift integer;
begin
  foreach shift in array run_period_shifts() loop
    exit when (to_ms >> shift) - (from_ms >> shift) < 24;
  end loop;
  return array(
    select period_hash(of_tenant, shift, period) from generate_series(from_ms >> shift, to_ms >> shift) as period);
end $$;

-- Inserts the terms of runs, and counts those that are new. A run that was deleted meanwhile is skipped, and an ended
-- run stays as it is. Returns the number of rows that were inserted or changed.
create function index_runs(batch jsonb) returns integer language plpgsql as $$
declare
  stored_runs integer;
begin
  -- One batch at a time. The statement after the lock sees what the batch before has committed.
  perform from run_index_position for update;
  with given as materialized (
    select run_id, tenant_id, month, is_open, array(select jsonb_array_elements_text(terms)) as terms
    from jsonb_to_recordset(batch) as given (run_id uuid, tenant_id uuid, month date, is_open boolean, terms jsonb)
  ), before as materialized (
    select run_id, terms from run_index where run_id = any (array(select run_id from given))
  ), stored as (
    -- `xmax` is 0 in a row that was inserted, and not in one that was updated.
    insert into run_index as known (run_id, tenant_id, is_open, terms)
    select run_id, tenant_id, is_open, array(select term_hash(tenant_id, term) from unnest(terms) as term)
      || array(
        select period_hash(tenant_id, shift, uuid_ms(run_id) >> shift) from unnest(run_period_shifts()) as shift)
    from given order by run_id
    on conflict (run_id) do update set is_open = excluded.is_open,
      terms = array(select unnest(known.terms) union select unnest(excluded.terms))
    where known.is_open and not (excluded.is_open and excluded.terms <@ known.terms)
    returning known.run_id, known.xmax = 0 as is_new
  ), counted as (
    -- Locked in the order of the key, as in the trigger of deletions.
    insert into run_counts as counts (tenant_id, term, month, runs)
    select tenant_id, term, month, count(*) from (
      select given.tenant_id, term_hash(given.tenant_id, given_term) as term, given.month, stored.is_new, before.terms
      from stored join given using (run_id) left join before using (run_id),
        unnest(given.terms || array['']) as given_term
      where given_term not like 'word:%' and (given_term <> '' or stored.is_new)
    ) as new_terms
    where is_new or term <> all (terms)
    group by tenant_id, term, month order by tenant_id, term, month
    on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs
  )
  select count(*) into stored_runs from stored;
  return stored_runs;
end $$;

-- Runs of the tenant of this statement that have all the terms, newest first.
create function find_indexed_runs(hashes bigint[], periods bigint[], before uuid, lowest uuid, most integer)
returns uuid[] language plpgsql stable security definer set search_path from current as $$
declare
  of_tenant constant uuid := current_tenant_id();
begin
  -- Materialized, so that the arrays are looked up first, whatever the planner expects.
  return array(
    with matching as materialized (
      select run_id, tenant_id from run_index where not is_open and terms @> hashes and terms && periods
    ), open as materialized (
      select run_id, terms from run_index
      where is_open and tenant_id = of_tenant and run_id < before and run_id >= lowest
    )
    select run_id from (
      select run_id from matching where tenant_id = of_tenant and run_id < before and run_id >= lowest
      union all
      select run_id from open where terms @> hashes
    ) as found
    order by run_id desc limit most);
end $$;

-- How many of 500 runs of these periods have the rarest of the terms, as a share.
create function rarest_term_share(hashes bigint[], periods bigint[]) returns double precision
language plpgsql stable security definer set search_path from current as $$
begin
  return (
    with sample as materialized (
      select terms from run_index where not is_open and terms && periods and tenant_id = current_tenant_id() limit 500
    )
    select min(share) from (
      select (count(*) filter (where hash = any (terms)) + 0.5) / greatest(count(*), 1) as share
      from unnest(hashes) as hash left join sample on true group by hash
    ) as shares);
end $$;

-- The time below which about `some_runs` more runs of the tenant were accepted before `from_ms`; 0 if there are fewer.
create function estimate_time_before(of_tenant uuid, from_ms bigint, some_runs double precision) returns bigint
language plpgsql stable as $$
declare
  counted record;
  left_runs double precision := some_runs;
  at_ms bigint := from_ms;
  available double precision;
begin
  for counted in
    select (extract(epoch from month::timestamp) * 1000)::bigint as start_ms, runs,
      greatest(extract(epoch from least(month + interval '1 month', now() at time zone 'UTC') - month) * 1000, 1)
        as length_ms
    from run_counts
    where tenant_id = of_tenant and term = term_hash(of_tenant, '') and runs > 0
      and month <= (timestamp '1970-01-01' + make_interval(secs => from_ms / 1000.0))::date
    order by month desc
  loop
    available := counted.runs * (at_ms - counted.start_ms) / counted.length_ms;
    if available >= left_runs then
      return at_ms - (left_runs * counted.length_ms / counted.runs)::bigint;
    end if;
    left_runs := left_runs - available;
    at_ms := counted.start_ms;
  end loop;
  return 0;
end $$;

-- The newest runs below `before` that have all the terms. Looks up the newest 1,000 runs, then ten times as many, and
-- so on while it finds too few. `max_entries` limits how many runs of the rarest term are read: two common terms that
-- are never together end the search early. `next_before` is where a later call continues, null if there is nothing
-- older.
create function search_runs(of_tenant uuid, of_terms text[], before uuid, lowest uuid, most integer,
  max_entries integer, out run_ids uuid[], out next_before uuid, out lookups integer) language plpgsql stable as $$
declare
  first_runs constant integer := 1000;
  hashes constant bigint[] := term_hashes(of_tenant, of_terms);
  periods bigint[];
  highest uuid;
  oldest uuid;
  range_end uuid;
  range_runs double precision := first_runs;
  growth double precision;
  end_ms bigint;
  next_ms bigint;
  found_runs uuid[];
  -- Of the rarest term per run.
  entries double precision;
  left_entries double precision := max_entries;
begin
  run_ids := '{}';
  lookups := 0;
  select run_id into highest from runs
  where tenant_id = of_tenant and run_id < before and run_id >= lowest order by run_id desc limit 1;
  select run_id into oldest from runs
  where tenant_id = of_tenant and run_id < before and run_id >= lowest order by run_id limit 1;
  if highest is null then
    return;
  end if;
  select run_id into range_end from runs
  where tenant_id = of_tenant and run_id < before and run_id >= lowest
  order by run_id desc offset first_runs - 1 limit 1;
  range_end := coalesce(range_end, oldest);
  loop
    periods := covering_periods(of_tenant, uuid_ms(range_end), uuid_ms(highest));
    found_runs := find_indexed_runs(hashes, periods, before, range_end, most - cardinality(run_ids));
    lookups := lookups + 1;
    run_ids := run_ids || found_runs;
    if cardinality(run_ids) >= most then
      next_before := run_ids[most];
      return;
    end if;
    next_before := case when range_end > oldest then range_end end;
    exit when next_before is null;
    if cardinality(hashes) = 1 then
      entries := (cardinality(found_runs) + 0.5) / range_runs;
    else
      entries := coalesce(entries, rarest_term_share(hashes, periods));
    end if;
    growth := least(10, left_entries / entries / range_runs);
    range_runs := range_runs * growth;
    exit when range_runs < first_runs;
    left_entries := left_entries - range_runs * entries;
    -- Not longer than the runs of this range suggest: those of a month can all be in one hour.
    end_ms := uuid_ms(range_end);
    next_ms := greatest(estimate_time_before(of_tenant, end_ms, range_runs),
      end_ms - (growth * (uuid_ms(highest) - end_ms + 1000))::bigint);
    before := range_end;
    highest := range_end;
    range_end := greatest(uuid_at_ms(next_ms), oldest);
  end loop;
end $$;

create function store_marked_run() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from marked_runs
    where tenant_id = old.tenant_id and term = any (mark_terms(old.starred, old.tags)) and run_id = old.run_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into marked_runs (tenant_id, term, run_id)
    select new.tenant_id, term, new.run_id from unnest(mark_terms(new.starred, new.tags)) as term
    on conflict do nothing;
  end if;
  return null;
end $$;
comment on function store_marked_run is
  'Keeps marked_runs equal to the stars and tags.';

create function run_has_all_terms(of_tenant uuid, of_terms text[], of_marks text[], of_run uuid) returns boolean
language plpgsql stable as $$
declare
  current_mark text;
begin
  foreach current_mark in array of_marks loop
    if not exists (
      select from marked_runs where tenant_id = of_tenant and term = current_mark and run_id = of_run
    ) then
      return false;
    end if;
  end loop;
  return cardinality(of_terms) = 0 or exists (
    select from run_index
    where run_id = of_run and tenant_id = of_tenant and terms @> term_hashes(of_tenant, of_terms));
end $$;

-- As `search_runs`, for searches with stars or tags: each run of the first list is looked up in the others.
create function search_marked_runs(of_tenant uuid, of_terms text[], of_marks text[], before uuid, lowest uuid,
  most integer, max_lookups integer, out run_ids uuid[], out next_before uuid) language plpgsql stable as $$
declare
  candidate record;
  lookups integer := 0;
begin
  run_ids := '{}';
  for candidate in
    select run_id from marked_runs
    where tenant_id = of_tenant and term = of_marks[1] and run_id < before and run_id >= lowest
    order by run_id desc limit max_lookups
  loop
    lookups := lookups + 1;
    next_before := candidate.run_id;
    if run_has_all_terms(of_tenant, of_terms, of_marks[2:], candidate.run_id) then
      run_ids := run_ids || candidate.run_id;
      if cardinality(run_ids) = most then
        return;
      end if;
    end if;
  end loop;
  if lookups < max_lookups then
    next_before := null;
  end if;
end $$;

-- The row serializes the trigger with the duty, and each statement sees what the duty has committed before.
create function clear_run_index() returns trigger language plpgsql as $$
declare
  indexed_terms bigint[];
  in_month constant date := date_trunc('month', new.created_at at time zone 'UTC')::date;
begin
  insert into run_index (run_id, tenant_id, is_open, terms) values (new.run_id, new.tenant_id, false, '{}')
  on conflict do nothing;
  select terms into indexed_terms from run_index where run_id = new.run_id for update;
  update run_index set is_open = false, terms = '{}' where run_id = new.run_id and terms <> '{}';
  insert into run_counts as counts (tenant_id, term, month, runs)
  select new.tenant_id, hash, in_month, -1
  from unnest(indexed_terms || case when indexed_terms <> '{}' then array[term_hash(new.tenant_id, '')] end) as hash
  where exists (
    select from run_counts as known
    where known.tenant_id = new.tenant_id and known.term = hash and known.month = in_month)
  order by hash
  on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs;
  return null;
end $$;
comment on function clear_run_index is
  'Removes the terms of a deleted run from the index and from the counts.';

-- Rows are removed when the archive has the run and nothing refers to it.
create function remove_run_index() returns trigger language plpgsql as $$
begin
  delete from run_index where run_id = old.run_id;
  return null;
end $$;
comment on function remove_run_index is
  'Removes the row of the index with the row of the run.';

create trigger clear_run_index after update of deleted_at on runs for each row
  when (old.deleted_at is null and new.deleted_at is not null)
  execute function clear_run_index();

create trigger remove_run_index after delete on runs for each row execute function remove_run_index();

-- The trigger locks the table, so no change is missed between it and the copy.
create trigger store_marked_run after insert or update or delete on run_marks
  for each row execute function store_marked_run();

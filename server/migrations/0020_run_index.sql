-- expand: an index of runs by the words of their prompts and by other fields, and counts of runs by month

-- One row per run and term. A term is a word of the prompt (`word:harbour`) or the value of a field
-- (`model:flux-dev`). All runs of a term are a sorted list, so any combination of terms is an intersection of sorted
-- lists. A background duty reads the event log and inserts the rows, so that accepting a run does not wait for them.
create table run_terms (
  tenant_id uuid not null,
  term text collate "C" not null,
  run_id uuid not null,
  primary key (tenant_id, term, run_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);

-- The terms of each run, by which they are found when the run is deleted. The row of a deleted run stays without
-- terms: a duty that has read the run before the deletion inserts nothing afterwards.
create table indexed_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  terms text[] not null,
  is_deleted boolean not null default false
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);

-- Runs by month of acceptance (UTC) for each term that is not a word. The empty term counts all runs.
create table run_term_counts (
  tenant_id uuid not null,
  term text collate "C" not null,
  month date not null,
  runs bigint not null,
  primary key (tenant_id, term, month)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The position of the duty in the event log; null before its first turn. Runs below `backfill_before` were accepted
-- before that turn and are not indexed yet; null when all of them are.
create table run_index_cursor (
  id boolean primary key default true check (id),
  xact bigint,
  seq bigint,
  backfill_before uuid
);
insert into run_index_cursor (backfill_before) values ('ffffffff-ffff-ffff-ffff-ffffffffffff');

-- The newest runs below `before` that have all the terms: an intersection of sorted lists. Each seek finds the newest
-- run of one list that is not above the candidate; a candidate that all lists contain is a result. `next_before` is
-- where a later call continues, null at the end of a list or below `lowest`.
create function find_runs_by_terms(of_tenant uuid, of_terms text[], before uuid, lowest uuid, most integer,
  max_seeks integer, out run_ids uuid[], out next_before uuid, out seeks integer) language plpgsql stable as $$
declare
  term_count constant integer := cardinality(of_terms);
  term_number integer := 1;
  current_term text;
  candidate uuid := before;
  -- Whether the search continues below the candidate: at the start and after each result.
  is_below boolean := true;
  agreeing integer := 0;
  hit uuid;
begin
  run_ids := '{}';
  next_before := before;
  seeks := 0;
  while seeks < max_seeks loop
    current_term := of_terms[term_number];
    if is_below then
      select run_id into hit from run_terms
      where tenant_id = of_tenant and term = current_term and run_id < candidate
      order by run_id desc limit 1;
    else
      select run_id into hit from run_terms
      where tenant_id = of_tenant and term = current_term and run_id <= candidate
      order by run_id desc limit 1;
    end if;
    seeks := seeks + 1;
    if hit is null or hit < lowest then
      next_before := null;
      return;
    end if;
    if not is_below and hit = candidate then
      agreeing := agreeing + 1;
    else
      next_before := candidate;
      candidate := hit;
      is_below := false;
      agreeing := 1;
    end if;
    if agreeing = term_count then
      run_ids := run_ids || candidate;
      next_before := candidate;
      is_below := true;
      agreeing := 0;
      if cardinality(run_ids) = most then
        return;
      end if;
    end if;
    term_number := term_number % term_count + 1;
  end loop;
end $$;

-- A function, so that each term is looked up by the whole key whatever the size of the table was when it was planned.
create function run_has_terms(of_tenant uuid, of_terms text[], of_run uuid) returns boolean language plpgsql stable as $$
declare
  current_term text;
begin
  foreach current_term in array of_terms loop
    if not exists (select from run_terms where tenant_id = of_tenant and term = current_term and run_id = of_run) then
      return false;
    end if;
  end loop;
  return true;
end $$;

-- A trigger, so that deletions by the previous version are noticed too. The row of `indexed_runs` serializes it with
-- the duty, and each statement of the function sees what the duty has committed before.
create function remove_indexed_run() returns trigger language plpgsql as $$
declare
  indexed_terms text[];
begin
  insert into indexed_runs as known (run_id, tenant_id, terms, is_deleted)
  values (new.run_id, new.tenant_id, '{}', true)
  on conflict (run_id) do update set is_deleted = true
  returning known.terms into indexed_terms;
  with removed as (
    delete from run_terms
    where tenant_id = new.tenant_id and term = any (indexed_terms) and run_id = new.run_id
    returning term
  )
  insert into run_term_counts as counts (tenant_id, term, month, runs)
  select new.tenant_id, counted.term, date_trunc('month', new.created_at at time zone 'UTC')::date, -1
  from (
    select term from removed where term not like 'word:%'
    union all
    select '' where cardinality(indexed_terms) > 0
  ) as counted
  order by counted.term
  on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs;
  update indexed_runs set terms = '{}' where run_id = new.run_id;
  return null;
end $$;

create trigger remove_indexed_run after update of deleted_at on runs for each row
  when (old.deleted_at is null and new.deleted_at is not null)
  execute function remove_indexed_run();

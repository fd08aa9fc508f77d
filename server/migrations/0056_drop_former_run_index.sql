-- contract since 0055: nothing reads the former index of runs, nor the other columns and functions that are dropped here

-- As before, without the tables that this migration drops.
create or replace function remove_archived_runs(of_batch uuid, of_key text, of_sha256 text, of_bytes bigint)
returns boolean language plpgsql as $$
declare
  batch archive_batches;
  current_sha256 text;
  ids uuid[];
  candidates uuid[];
  removed uuid[];
begin
  select * into batch from archive_batches
  where batch_id = of_batch and kind = 'runs' and state = 'open' and storage_key = of_key for update;
  if not found then
    return false;
  end if;
  perform from runs where run_id = any (batch.run_ids) order by run_id for update;
  -- A statement of its own sees what was committed while the one before waited for its locks.
  select encode(sha256(convert_to(string_agg(line || e'\n', '' order by run_id), 'UTF8')), 'hex'),
    array_agg(run_id order by run_id)
  into current_sha256, ids from archived_run_lines(batch.run_ids);
  if current_sha256 is distinct from of_sha256 then
    return false;
  end if;
  update archive_batches set state = 'verified' where batch_id = of_batch;

  insert into archived_transfers as known (tenant_id, kind, from_account, to_account, amount, transfers)
  select tenant_id, kind, from_account, to_account, sum(amount), count(*) from transfers
  where cause_id = any (ids) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (tenant_id, kind, from_account, to_account) do update
  set amount = known.amount + excluded.amount, transfers = known.transfers + excluded.transfers, archived_at = now();
  insert into archived_usage as known
    (tenant_id, day, operation, model, key_id, completed, failed, canceled, unpriced, amount)
  select tenant_id, day_of(created_at), operation, model, key_id, count(*) filter (where status = 'completed'),
    count(*) filter (where status = 'failed'), count(*) filter (where status = 'canceled'),
    count(*) filter (where status = 'completed' and cost is null), coalesce(sum((cost ->> 'amount')::numeric), 0)
  from runs where run_id = any (ids) and run_type not in ('upload', 'mask-upload')
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (tenant_id, day, operation, model, key_id) do update
  set completed = known.completed + excluded.completed, failed = known.failed + excluded.failed,
    canceled = known.canceled + excluded.canceled, unpriced = known.unpriced + excluded.unpriced,
    amount = known.amount + excluded.amount;

  delete from transfers where cause_id = any (ids);
  delete from attempts where run_id = any (ids);
  delete from planned_requests where run_id = any (ids);
  delete from assets where run_id = any (ids);
  delete from unsuccessful_runs where tenant_id = batch.tenant_id and status in ('failed', 'canceled')
    and run_id = any (ids);
  delete from expiring_runs where run_id = any (ids);
  delete from webhook_progress_sent where run_id = any (ids);
  with removed_references as (
    delete from run_references where run_id = any (ids) returning source_run_id
  )
  select ids || array(select source_run_id from removed_references) into candidates;
  -- Every run becomes a tombstone first: the triggers of deletions remove it from the index and from its counts.
  update runs set deleted_at = now(), inputs = '{}', plan = '[]', metadata = '{}', webhook_url = null, warnings = '[]',
    result = case when result is not null then '{"outputs": []}'::jsonb end, error = error || '{"details": {}}'
  where run_id = any (ids) and deleted_at is null;
  insert into archived_runs (run_id, tenant_id) select unnest(ids), batch.tenant_id;

  -- Removes tombstones from the leaves up. A tombstone with a child or a reference stays; it is a candidate again when
  -- the last of them is archived.
  loop
    with leaves as (
      delete from archived_runs where run_id = any (candidates)
        and not exists (select from runs as child where child.parent_run_id = archived_runs.run_id)
        and not exists (select from run_references where source_run_id = archived_runs.run_id)
      returning run_id
    )
    select array(select run_id from leaves) into removed;
    exit when cardinality(removed) = 0;
    with removed_runs as (
      delete from runs where run_id = any (removed) returning parent_run_id
    )
    select array(select parent_run_id from removed_runs where parent_run_id is not null) into candidates;
  end loop;

  update archive_batches set state = 'archived', archived_at = now(), run_ids = null, stale_keys = '{}',
    first_run_id = ids[1], last_run_id = ids[cardinality(ids)], lines = cardinality(ids),
    sha256 = of_sha256, size_bytes = of_bytes
  where batch_id = of_batch;
  return true;
end $$;

drop trigger remove_indexed_run on runs;
drop trigger index_run_marks on run_marks;
drop function remove_indexed_run;
drop function index_run_marks;
drop function find_runs_by_terms;
drop function run_has_terms;
drop table run_terms;
drop table indexed_runs;
drop table run_term_counts;
drop table run_index_cursor;

-- The index computes the periods of a run itself.
drop function run_periods;
-- `dispatch_active_deliveries` and `reached_open_run_limit` have replaced them.
drop function dispatch_deliveries;
drop function is_below_open_run_limit;

-- Whether the budget has a balance or a limit.
create or replace function has_limit(budget budgets) returns boolean language sql immutable as $$
  select budget.is_prepaid
    or coalesce(budget.hour_limit, budget.day_limit, budget.month_limit, budget.total_limit) is not null
$$;
alter table budgets drop column is_limited;

-- No code writes the state `abandoned`. The next migration validates the constraint, without a lock that blocks writers.
alter table attempts drop constraint attempts_state_check;
alter table attempts add constraint attempts_state_check
  check (state in ('intent', 'submitted', 'succeeded', 'failed', 'unknown')) not valid;

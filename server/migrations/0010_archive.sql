-- The archive: ended runs and audit entries move to files in the storage, which are read back before the rows are
-- removed.
set local check_function_bodies = off;

-- One row per file of the archive, from before the file is written. While the batch is open, `run_ids` or the range of
-- entries says what the file contains, so that a repeated batch writes the same rows into one file.
create table archive_batches (
  batch_id uuid primary key,
  tenant_id uuid not null,
  kind text not null check (kind in ('runs', 'audit')),
  -- The day (UTC) in which the runs were accepted.
  day date not null,
  -- `verified` only during the transaction that removes the rows: the triggers below let it.
  state text not null default 'open' check (state in ('open', 'verified', 'archived')),
  run_ids uuid[],
  first_run_id uuid,
  last_run_id uuid,
  first_entry bigint,
  last_entry bigint,
  -- The newest file of the batch, and earlier ones that are not part of the archive. Every attempt has a name of its
  -- own, so that a process that lost its lease neither removes rows with its file nor deletes that of another process.
  storage_key text,
  stale_keys text[] not null default '{}',
  -- Of the text before compression.
  sha256 text,
  lines integer,
  -- Of the file.
  size_bytes bigint,
  created_at timestamptz not null default now(),
  archived_at timestamptz,
  check ((state = 'archived') = (archived_at is not null)),
  check (state <> 'archived' or (storage_key, sha256, lines, size_bytes) is not null)
);
comment on table archive_batches is
  'One row for each file of the archive, from before the file is written.';
create unique index archive_batches_open on archive_batches (tenant_id, kind) where state <> 'archived';
create index archive_batches_by_run on archive_batches (first_run_id) where state = 'archived';

-- Archived runs that stay as tombstones, because a run that is not archived descends from them or references them.
create table archived_runs (
  run_id uuid primary key,
  tenant_id uuid not null
);
comment on table archived_runs is
  'Archived runs that stay as tombstones, because runs that are not archived refer to them.';

-- Sums of the archived transfers. With them, every balance is still the sum of its entries.
create table archived_transfers (
  tenant_id uuid not null,
  kind text not null,
  from_account text not null,
  to_account text not null,
  amount bigint not null,
  transfers bigint not null,
  archived_at timestamptz not null default now(),
  primary key (tenant_id, kind, from_account, to_account)
);
comment on table archived_transfers is
  'Sums of the transfers that are in the archive.';

create view entries as
  select cause_id, kind, tenant_id, from_account as account, -amount as amount, created_at from transfers
  union all
  select cause_id, kind, tenant_id, to_account, amount, created_at from transfers
  union all
  select '00000000-0000-0000-0000-000000000000', kind, tenant_id, from_account, -amount, archived_at
  from archived_transfers
  union all
  select '00000000-0000-0000-0000-000000000000', kind, tenant_id, to_account, amount, archived_at
  from archived_transfers;
comment on view entries is
  'Both sides of every transfer of the ledger.';

-- The part of `daily_usage` that comes from archived runs, for the case that the sums are built again.
create table archived_usage (
  tenant_id uuid not null,
  day date not null,
  operation text not null,
  model text,
  key_id uuid,
  completed bigint not null,
  failed bigint not null,
  canceled bigint not null,
  unpriced bigint not null,
  amount numeric not null,
  unique nulls not distinct (tenant_id, day, operation, model, key_id)
);
comment on table archived_usage is
  'The part of daily_usage that comes from archived runs, for the case that the sums are built again.';

-- The lines of the archive. The format has the number in `schema`: a change of a line is a new function and a new
-- number. Times are in UTC whatever the connection says, so that the same rows are the same text.
create function archived_run_lines(of_runs uuid[]) returns table (run_id uuid, line text)
language sql stable set timezone = 'UTC' as $$
  select record.run_id, (jsonb_build_object('schema', 1) || to_jsonb(record))::text
  from (
    select runs.run_id, runs.tenant_id, user_id, end_user, key_id, operation, run_type, status, parent_run_id, root_run_id,
      depth, inputs, given_fields, plan, metadata, webhook_url, model, provider, result, error, cost, warnings, traceparent,
      created_at, started_at, finished_at, expires_at, deleted_at,
      coalesce((select tags from run_marks where run_marks.run_id = runs.run_id), '{}') as tags,
      array(select source_run_id from run_references where run_references.run_id = runs.run_id
        order by source_run_id) as source_run_ids,
      (select coalesce(jsonb_agg(to_jsonb(request) order by request_index), '[]') from (
         select request_index, provider, model, upstream, output, finished_at
         from planned_requests where planned_requests.run_id = runs.run_id) as request) as requests,
      (select coalesce(jsonb_agg(to_jsonb(attempt) order by request_index, attempt_number), '[]') from (
         select request_index, attempt_number, idempotency_key, provider, upstream, state, send_count,
           bit_count(sent_claims::bit(32)) as sends, unknown_since, ticket, request, fault, is_final, price,
           settled_charge, settled_at, created_at, submitted_at, finished_at
         from attempts where attempts.run_id = runs.run_id) as attempt) as attempts,
      (select coalesce(jsonb_agg(to_jsonb(transfer) order by kind), '[]') from (
         select kind, from_account, to_account, amount, created_at
         from transfers where cause_id = runs.run_id) as transfer) as transfers,
      (select coalesce(jsonb_agg(to_jsonb(asset) order by asset_id), '[]') from (
         select asset_id, role, asset_key(assets.tenant_id, assets.run_id, sha256, storage_key) as storage_key, media_type,
           width, height, size_bytes, sha256, provenance_of, original_sha256, created_at, deleted_at
         from assets where assets.run_id = runs.run_id) as asset) as assets
    from runs
    where runs.run_id = any (of_runs)
      and not exists (select from archived_runs where archived_runs.run_id = runs.run_id)
  ) as record
$$;

create function archived_audit_lines(of_tenant uuid, of_first bigint, of_last bigint)
returns table (entry bigint, line text) language sql stable set timezone = 'UTC' as $$
  select record.entry, (jsonb_build_object('schema', 1) || to_jsonb(record))::text
  from (
    select tenant_id, audit_log.entry, at, user_id, key_id, action, subject, details, encode(digest, 'hex') as digest
    from audit_log where tenant_id = of_tenant and audit_log.entry between of_first and of_last
  ) as record
$$;

-- Removes the rows of a batch whose file was read back with this digest. Returns false and removes nothing if another
-- file has replaced it, or if the rows would make another file now, for example because a caller has deleted one of the
-- runs meanwhile.
create function remove_archived_runs(of_batch uuid, of_key text, of_sha256 text, of_bytes bigint)
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

-- No role has the right to delete audit entries: as `delete_audit_log`, with the rights of the owner of the table.
create function delete_archived_audit(of_batch uuid) returns void
language sql security definer set search_path from current as $$
  delete from audit_log using archive_batches as batch
  where batch.batch_id = of_batch and batch.kind = 'audit' and batch.state = 'verified'
    and audit_log.tenant_id = batch.tenant_id and audit_log.entry between batch.first_entry and batch.last_entry
$$;

-- As `remove_archived_runs`, for audit entries. An entry in the log itself says which entries were archived and with
-- which digest they end, so that the rest of the chain can be verified.
create function remove_archived_audit(of_batch uuid, of_key text, of_sha256 text, of_bytes bigint)
returns boolean language plpgsql as $$
declare
  batch archive_batches;
  current_sha256 text;
  line_count integer;
  last_digest bytea;
begin
  select * into batch from archive_batches
  where batch_id = of_batch and kind = 'audit' and state = 'open' and storage_key = of_key for update;
  if not found then
    return false;
  end if;
  select encode(sha256(convert_to(string_agg(line || e'\n', '' order by entry), 'UTF8')), 'hex'), count(*)
  into current_sha256, line_count from archived_audit_lines(batch.tenant_id, batch.first_entry, batch.last_entry);
  if current_sha256 is distinct from of_sha256 then
    return false;
  end if;
  select digest into last_digest from audit_log where tenant_id = batch.tenant_id and entry = batch.last_entry;
  insert into audit_log (tenant_id, user_id, action, subject, details)
  values (batch.tenant_id, 'gesso', 'audit_log.archive', batch.storage_key, jsonb_build_object(
    'through', batch.last_entry, 'digest', encode(last_digest, 'hex'), 'sha256', of_sha256));
  update archive_batches set state = 'verified' where batch_id = of_batch;
  perform delete_archived_audit(of_batch);
  update archive_batches set state = 'archived', archived_at = now(), lines = line_count, sha256 = of_sha256,
    size_bytes = of_bytes, stale_keys = '{}'
  where batch_id = of_batch;
  return true;
end $$;

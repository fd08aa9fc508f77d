-- expand: a file whose row has no storage key has the key that follows from its tenant, run and digest. This version
-- reads such rows and writes none: the program before it would take their objects for orphans and delete them.

alter table assets alter column storage_key drop not null;

-- A single expression of immutable parts, so that the planner puts it into the statement.
create function asset_key(of_tenant uuid, of_run uuid, of_sha256 text, stored_key text) returns text
language sql immutable as $$
  select coalesce(stored_key, 't/' || of_tenant::text || '/r/' || of_run::text || '/' || of_sha256)
$$;

-- As before, for derived keys too: a digest is a segment of the key, and the role of a tenant writes it.
create or replace function limit_asset_key() returns trigger language plpgsql as $$
begin
  if not is_key_of_current_tenant(asset_key(new.tenant_id, new.run_id, new.sha256, new.storage_key)) then
    raise exception 'the storage key is not below the prefix of the tenant' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger limit_derived_asset_key before update of tenant_id, run_id, sha256 on assets for each row
  when (current_user = 'gesso_app') execute function limit_asset_key();

-- As before, with derived keys. The lines of all rows that have a key are the same.
create or replace function archived_run_lines(of_runs uuid[]) returns table (run_id uuid, line text)
language sql stable set timezone = 'UTC' as $$
  select record.run_id, (jsonb_build_object('schema', 1) || to_jsonb(record))::text
  from (
    select runs.run_id, runs.tenant_id, user_id, key_id, operation, run_type, status, parent_run_id, root_run_id, depth,
      inputs, given_fields, plan, metadata, webhook_url, model, provider, result, error, cost, warnings, traceparent,
      created_at, started_at, finished_at, expires_at, deleted_at,
      coalesce((select tags from run_marks where run_marks.run_id = runs.run_id), '{}') as tags,
      array(select source_run_id from run_references where run_references.run_id = runs.run_id
        order by source_run_id) as source_run_ids,
      (select coalesce(jsonb_agg(to_jsonb(request) order by request_index), '[]') from (
         select request_index, provider, model, upstream, output, finished_at
         from planned_requests where planned_requests.run_id = runs.run_id) as request) as requests,
      (select coalesce(jsonb_agg(to_jsonb(attempt) order by request_index, attempt_number), '[]') from (
         select request_index, attempt_number, idempotency_key, provider, upstream, state, send_count, unknown_since,
           ticket, request, fault, is_final, price, settled_charge, settled_at, created_at, submitted_at, finished_at
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

-- expand: an attempt knows which of its lease holders have sent its request. `send_count` counts the holders, not what
-- they sent: the first one, and one more for each take-over.

-- Bit n is set if the holder of lease n + 1 reported that it had written the request to a connection. Bits make a report
-- idempotent, because the statement that reports is repeated after a lost response of PostgreSQL.
alter table attempts add column sent_claims integer not null default 0;

comment on column attempts.send_count is
  'Number of leases of the attempt: 1, and one more for each take-over by another worker. Not the number of requests.';
comment on column attempts.sent_claims is
  'Bit n: the holder of lease n + 1 reported that bytes of the request were written. A worker that died reports nothing.';

-- As before, with the number of requests that were sent.
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
         select request_index, attempt_number, idempotency_key, provider, upstream, state, send_count,
           bit_count(sent_claims::bit(32)) as sends, unknown_since, ticket, request, fault, is_final, price, settled_charge, settled_at, created_at, submitted_at, finished_at
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

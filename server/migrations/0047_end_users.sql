-- expand: runs belong to a visitor of an app, the end user of an access token, who sees no run of another one. The
-- program before it sets no end user, and sees the runs of its tenant as before.

alter table runs add column end_user text;

-- `gesso_end_user` serves requests of end users. It is a member of `gesso_app`, and so has its rights and its policies;
-- further policies, which only it has, leave the runs of the end user in the setting `app.end_user`, and no run if it is
-- not set. A role of its own, so that statements of all others are planned and executed as before.
create function current_end_user() returns text language sql stable as $$
  select nullif(current_setting('app.end_user', true), '')
$$;

-- What `gesso_app` may write, `gesso_end_user` may write too. The conditions of the first triggers name the role.
create trigger forbid_lora_name_changes_by_end_users before update on lora_names for each row
  when (old.* is distinct from new.* and current_user = 'gesso_end_user')
  execute function forbid_lora_name_changes();
create trigger limit_asset_key_of_end_users before insert or update of storage_key on assets for each row
  when (current_user = 'gesso_end_user') execute function limit_asset_key();
create trigger limit_derived_asset_key_of_end_users before update of tenant_id, run_id, sha256 on assets for each row
  when (current_user = 'gesso_end_user') execute function limit_asset_key();
create trigger limit_outbox_of_end_users before insert on outbox for each row
  when (current_user = 'gesso_end_user') execute function limit_tenant_outbox();

-- Whose key it is: an API key with those that it replaced, a user, or an end user. Rows of programs before have zeros,
-- and belong to whom the run says that they created. The fingerprint of `client_requests` contains the same.
alter table idempotency_keys add column caller_id uuid not null default '00000000-0000-0000-0000-000000000000';

-- As before, with what belongs to a run: an end user sees and changes only rows of runs that it sees. New rows are not
-- compared, because the run may be inserted by the same statement. Of runs in progress, `open_runs` and
-- `open_requests` have no content, and count towards the limits of the tenant; `staged_runs` has runs that do not exist;
-- `run_index` has hashes, which functions of the owner look up by operators that a policy would keep from the index.
create or replace function apply_row_level_security() returns void language plpgsql as $$
declare
  item record;
begin
  begin
    if not exists (select from pg_roles where rolname = 'gesso_end_user') then
      create role gesso_end_user nologin;
    end if;
  exception when duplicate_object or unique_violation then
    -- Roles belong to the cluster: another Gesso database has created it.
    null;
  end;
  if not pg_has_role('gesso_end_user', 'gesso_app', 'member') then
    grant gesso_app to gesso_end_user;
  end if;
  if not pg_has_role(current_user, 'gesso_end_user', 'usage') then
    execute format('grant gesso_end_user to %I', current_user);
  end if;
  execute format('grant usage on schema %I to gesso_app, gesso_system', current_schema());
  for item in
    select tables.oid, tables.relname as name, tables.relkind as kind, tables.relrowsecurity as is_secured,
      tables.relforcerowsecurity as is_forced,
      exists (select from pg_attribute where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped)
        as has_tenant,
      exists (select from pg_attribute where attrelid = tables.oid and attname = 'run_id' and not attisdropped)
        as has_run
    from pg_class as tables
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
      and relname <> 'schema_migrations'
  loop
    execute format('grant select, insert, update, delete on %I to gesso_system', item.name);
    if item.kind = 'v' then
      execute format('alter view %I set (security_invoker = true)', item.name);
      continue;
    end if;
    if item.has_tenant then
      execute format('grant select, insert, update, delete on %I to gesso_app', item.name);
      if not (item.is_secured and item.is_forced) then
        execute format('alter table %I enable row level security', item.name);
        execute format('alter table %I force row level security', item.name);
      end if;
      if not exists (select from pg_policy where polrelid = item.oid and polname = 'tenant_isolation') then
        execute format('create policy tenant_isolation on %I to gesso_app
          using (tenant_id = (select current_tenant_id()))', item.name);
      end if;
      if item.has_run and item.name not in ('open_runs', 'open_requests', 'staged_runs', 'run_index') and not exists (
        select from pg_policy where polrelid = item.oid and polname = 'end_user_isolation') then
        -- The owner of the tables is a member of the role too, for the functions that run with its rights. A scalar
        -- subquery is evaluated for each row; the planner might hash the runs of the tenant for `exists`.
        execute format('create policy end_user_isolation on %I as restrictive to gesso_end_user
          using ((select current_user <> ''gesso_end_user'') or %s)
          with check ((select current_user <> ''gesso_end_user'') or %s)',
          item.name,
          case when item.name = 'runs' then 'end_user = (select current_end_user())'
            else format('(select true from runs where runs.run_id = %I.run_id)', item.name) end,
          case when item.name = 'runs' then 'end_user = (select current_end_user())' else 'true' end);
      end if;
    end if;
    if (item.has_tenant or item.is_secured)
      and not exists (select from pg_policy where polrelid = item.oid and polname = 'system_access') then
      execute format('create policy system_access on %I to gesso_system using (true)', item.name);
    end if;
  end loop;
  -- The audit log is insert-only, and only the operator changes tenants.
  revoke update, delete on audit_log from gesso_app, gesso_system;
  revoke insert, update, delete on tenants from gesso_app;
end $$;

-- As before, with the end user.
create or replace function archived_run_lines(of_runs uuid[]) returns table (run_id uuid, line text)
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

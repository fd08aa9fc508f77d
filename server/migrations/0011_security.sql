-- Roles, grants and row-level security: a statement that does not filter by tenant still sees no row of another
-- tenant.
--
-- Neither role owns a table or bypasses row-level security. `gesso_app` serves requests: it sees the rows of the
-- tenant in the setting `app.tenant`, and no row if it is not set. `gesso_system` runs background work and sees all
-- rows. Connections assume one of the two; the owner of the tables only migrates.
do $$
declare
  name text;
begin
  foreach name in array array['gesso_app', 'gesso_system'] loop
    begin
      execute format('create role %I nologin', name);
    exception when duplicate_object or unique_violation then
      -- Roles belong to the cluster: another Gesso database has created it.
      null;
    end;
    execute format('grant %I to current_user', name);
  end loop;
end $$;

create function current_tenant_id() returns uuid language sql stable as $$
  select nullif(current_setting('app.tenant', true), '')::uuid
$$;

-- `gesso_end_user` serves requests of end users. It is a member of `gesso_app`, and so has its rights and its policies;
-- further policies, which only it has, leave the runs of the end user in the setting `app.end_user`, and no run if it
-- is not set. A role of its own, so that statements of all others are planned and executed without the further
-- policies.
create function current_end_user() returns text language sql stable as $$
  select nullif(current_setting('app.end_user', true), '')
$$;

-- `(select current_tenant_id())` is evaluated once per statement, not once per row.
create policy tenant_isolation on models to gesso_app using (tenant_id = (select current_tenant_id()));

create policy shared_models on models for select to gesso_app using (
  visibility = 'public' or exists (
    select from model_grants where model_grants.model_id = models.model_id
      and model_grants.tenant_id = (select current_tenant_id())));

create policy tenant_isolation on model_grants to gesso_app
  using (owner_tenant_id = (select current_tenant_id())) with check (owner_tenant_id = (select current_tenant_id()));

create policy received_grants on model_grants for select to gesso_app using (tenant_id = (select current_tenant_id()));

-- LoRA names are unique across tenants, so every tenant can see that a name is taken.
create policy all_lora_names on lora_names for select to gesso_app using (true);

create policy tenant_isolation on lora_names for insert to gesso_app
  with check (tenant_id = (select current_tenant_id()));

create policy lora_conflict_update on lora_names for update to gesso_app using (true);

-- Attempts and planned requests have no tenant of their own: a tenant sees those of the runs it sees, and clears them
-- when it deletes the run.
create policy tenant_isolation on attempts to gesso_app
  using (exists (select from runs where runs.run_id = attempts.run_id));

create policy tenant_isolation on planned_requests to gesso_app
  using (exists (select from runs where runs.run_id = planned_requests.run_id));

-- No role has the right to delete audit entries. The whole log of a tenant that is being deleted is deleted by this
-- function, with the rights of the owner of the table, for whom the policy makes those rows visible.
create policy tenant_deletion on audit_log to current_user using (exists (
  select from tenant_deletions where deleted_tenant_id = audit_log.tenant_id and state = 'deleting'));

-- A tenant's role inserts and updates its own row through the trigger, and cannot delete it. It only reads checkpoints.
create policy tenant_isolation on audit_checkpoints for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy tenant_isolation on audit_pending for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy insert_own on audit_pending for insert to gesso_app
  with check (tenant_id = (select current_tenant_id()));

create policy update_own on audit_pending for update to gesso_app
  using (tenant_id = (select current_tenant_id()));

-- Tenants only read what belongs to them. The owner of the tables reads batches, to delete archived audit entries.
create policy tenant_isolation on archive_batches for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy owner_access on archive_batches for select to current_user using (true);

create policy tenant_isolation on archived_runs for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy tenant_isolation on archived_transfers for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy tenant_isolation on archived_usage for select to gesso_app
  using (tenant_id = (select current_tenant_id()));

create policy archive on audit_log to current_user using (exists (
  select from archive_batches
  where archive_batches.tenant_id = audit_log.tenant_id and kind = 'audit' and state = 'verified'
    and audit_log.entry between first_entry and last_entry));

-- Arrays cannot be looked up below row-level security, because their operators could report values in errors. The
-- Arrays cannot be looked up below row-level security, because their operators could report values in errors. The
-- functions that search run with the rights of the owner, and only for the tenant of the statement.
create policy owner_access on run_index for select to current_user using (true);

alter table attempts enable row level security;
alter table attempts force row level security;
alter table planned_requests enable row level security;
alter table planned_requests force row level security;

grant select, insert on run_references to gesso_app;
grant select on attempts, retention, event_clock, lost_event_positions, daily_usage_cursor, run_index_position
  to gesso_app;
grant update (request, fault) on attempts to gesso_app;
grant select (run_id), update (output) on planned_requests to gesso_app;
grant insert on outbox to gesso_app;
grant select (deleted_tenant_id, state) on tenant_deletions to gesso_app;
-- Models of providers belong to the installation. Every caller may read them.
grant select on imported_models, model_pins to gesso_app;
grant usage on sequence event_numbers, delivery_epochs to gesso_app, gesso_system;

-- Runs after every migration: each table with a `tenant_id` column gets row-level security. A partition, if a table has
-- any, gets no grant, so that it is only reached through its parent, where the policies are. What belongs to a run has
-- a policy of end users: an end user sees and changes only rows of runs that it sees. New rows are not compared,
-- because the run may be inserted by the same statement. Of runs in progress, `open_runs` and `open_requests` have no
-- content, and count towards the limits of the tenant; `staged_runs` has runs that do not exist; `run_index` has
-- hashes, which functions of the owner look up by operators that a policy would keep from the index.
create function apply_row_level_security() returns void language plpgsql as $$
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

comment on table schema_migrations is
  'The migrations that were applied.';

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
alter table attempts enable row level security;
alter table attempts force row level security;
create policy tenant_isolation on attempts to gesso_app
  using (exists (select from runs where runs.run_id = attempts.run_id));
alter table planned_requests enable row level security;
alter table planned_requests force row level security;
create policy tenant_isolation on planned_requests to gesso_app
  using (exists (select from runs where runs.run_id = planned_requests.run_id));

grant select, insert on run_references to gesso_app;
grant select on attempts, retention, event_clock to gesso_app;
grant update (request, fault) on attempts to gesso_app;
grant select (run_id), update (output) on planned_requests to gesso_app;
grant insert on outbox to gesso_app;
grant usage on sequence event_numbers, delivery_epochs to gesso_app, gesso_system;

-- Runs after every migration: each table with a `tenant_id` column gets row-level security. A partition, if a table
-- has any, gets no grant, so that it is only reached through its parent, where the policies are.
create function apply_row_level_security() returns void language plpgsql as $$
declare
  item record;
begin
  execute format('grant usage on schema %I to gesso_app, gesso_system', current_schema());
  for item in
    select tables.oid, tables.relname as name, tables.relkind as kind, tables.relrowsecurity as is_secured,
      tables.relforcerowsecurity as is_forced,
      exists (select from pg_attribute where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped)
        as has_tenant
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

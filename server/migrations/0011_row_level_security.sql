-- The second wall between tenants: even a statement that forgets its tenant sees nothing of another's.
--
-- Two roles, neither of which owns a table or may pass the wall. `gesso_app` answers callers: it sees the rows of the tenant
-- in `app.tenant`, and none where nothing is set. `gesso_system` does the duties of the house and sees all rows. Whoever
-- connects takes one of them; the owner of the tables only migrates.
do $$
declare
  name text;
begin
  foreach name in array array['gesso_app', 'gesso_system'] loop
    begin
      execute format('create role %I nologin', name);
    exception when duplicate_object or unique_violation then
      -- Roles belong to the whole cluster: another database of ours has made it.
      null;
    end;
    execute format('grant %I to current_user', name);
  end loop;
end $$;

-- A grant shows itself to both sides: to the tenant that it was given to, and to the one that gave it.
alter table model_grants add column of_tenant uuid;
update model_grants set of_tenant = models.tenant_id from models where models.model_id = model_grants.model_id;
alter table model_grants alter column of_tenant set not null;

create function note_giver() returns trigger language plpgsql as $$
begin
  select tenant_id into new.of_tenant from models where model_id = new.model_id;
  return new;
end $$;

create trigger note_giver before insert on model_grants for each row execute function note_giver();

create function own_tenant() returns uuid language sql stable as $$
  select nullif(current_setting('app.tenant', true), '')::uuid
$$;

-- Asked once a statement, not once a row.
create policy own on models to gesso_app using (tenant_id = (select own_tenant()));
create policy shared on models for select to gesso_app using (
  visibility = 'public' or exists (
    select from model_grants where model_grants.model_id = models.model_id
      and model_grants.tenant_id = (select own_tenant())));
create policy own on model_grants to gesso_app
  using (of_tenant = (select own_tenant())) with check (of_tenant = (select own_tenant()));
create policy received on model_grants for select to gesso_app using (tenant_id = (select own_tenant()));

-- Names of LoRAs are one list for all: a name that is taken has to be seen to be taken.
create policy all_names on lora_names for select to gesso_app using (true);
create policy own on lora_names for insert to gesso_app with check (tenant_id = (select own_tenant()));
create policy met on lora_names for update to gesso_app using (true);

-- Attempts are known by their run, and a run by its tenant.
alter table attempts enable row level security;
alter table attempts force row level security;
create policy own on attempts for select to gesso_app using (exists (select from runs where runs.run_id = attempts.run_id));

grant select, insert on run_references to gesso_app;
grant select on attempts to gesso_app;
grant insert on outbox to gesso_app;

-- Run after every migration: a table with a tenant in it is behind the wall by being there. Partitions are granted to
-- nobody, so that they are only reached through their parents, where the wall is.
create function raise_walls() returns void language plpgsql as $$
declare
  item record;
begin
  execute format('grant usage on schema %I to gesso_app, gesso_system', current_schema());
  for item in
    select tables.oid, tables.relname as name, tables.relkind as kind, tables.relrowsecurity as has_wall,
      tables.relforcerowsecurity as is_forced,
      exists (select from pg_attribute where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped) as is_shared
    from pg_class as tables
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
      and relname <> 'schema_migrations'
  loop
    execute format('grant select, insert, update, delete on %I to gesso_system', item.name);
    if item.kind = 'v' then
      execute format('alter view %I set (security_invoker = true)', item.name);
      continue;
    end if;
    if item.is_shared then
      execute format('grant select, insert, update, delete on %I to gesso_app', item.name);
      if not (item.has_wall and item.is_forced) then
        execute format('alter table %I enable row level security', item.name);
        execute format('alter table %I force row level security', item.name);
      end if;
      if not exists (select from pg_policy where polrelid = item.oid and polname = 'own') then
        execute format('create policy own on %I to gesso_app using (tenant_id = (select own_tenant()))', item.name);
      end if;
    end if;
    if (item.is_shared or item.has_wall)
      and not exists (select from pg_policy where polrelid = item.oid and polname = 'house') then
      execute format('create policy house on %I to gesso_system using (true)', item.name);
    end if;
  end loop;
  -- What was done stays as it was told, and the tenants are the operator's.
  revoke update, delete on audit from gesso_app, gesso_system;
  revoke insert, update, delete on tenants from gesso_app;
  -- Days are added by whoever does the duties, and owned by whoever owns the rest.
  alter function make_partitions(date, integer) security definer set search_path from current;
end $$;

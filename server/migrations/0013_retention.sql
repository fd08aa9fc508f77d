-- How long files are kept. A run is given its end of keeping in the moment it ends, whoever ends it, so a later change of
-- the setting shortens nobody's promise.
create table retention (
  id boolean primary key default true check (id),
  -- Null: for ever.
  days integer check (days > 0)
);
insert into retention (days) values (null);

-- What the operator has said of one tenant. Zero: for ever. Null: as for all.
alter table tenants add column retention_days integer check (retention_days >= 0);

-- Asked in the name of whoever ends a run, which for an upload is its tenant. Null: for ever.
grant select on retention to gesso_app;
create function retention_days(tenant uuid) returns integer language sql stable as $$
  select nullif(coalesce((select tenants.retention_days from tenants where tenant_id = tenant), days, 0), 0)
  from retention
$$;

-- What will be taken away, in a table of its own: the rows of runs are large, many, and should change as little as they can.
create table expiring_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  expires_at timestamptz not null
);
create index expiring_runs_by_time on expiring_runs (expires_at);

create function give_expiry() returns trigger language plpgsql as $$
begin
  if new.finished_at is null or (tg_op = 'UPDATE' and old.finished_at is not null) then
    return new;
  end if;
  new.expires_at := coalesce(new.expires_at, new.finished_at + make_interval(days => retention_days(new.tenant_id)));
  if new.expires_at is not null then
    insert into expiring_runs (run_id, tenant_id, expires_at) values (new.run_id, new.tenant_id, new.expires_at);
  end if;
  return new;
end $$;

create trigger give_expiry before insert or update of finished_at on runs
  for each row execute function give_expiry();

-- Objects in storage that no row knows. One is taken away only when it was found at two times far enough apart.
create table orphans (
  storage_key text primary key,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);

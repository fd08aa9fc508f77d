-- Files of runs: what is stored, how much of it, and when it expires.
set local check_function_bodies = off;

-- A single expression of immutable parts, so that the planner puts it into the statement.
create function asset_key(of_tenant uuid, of_run uuid, of_sha256 text, stored_key text) returns text
language sql immutable as $$
  select coalesce(stored_key, 't/' || of_tenant::text || '/r/' || of_run::text || '/' || of_sha256)
$$;

-- Stored files. The id of an asset has the timestamp of its run, so that both sort alike.
create table assets (
  asset_id uuid primary key,
  run_id uuid not null,
  tenant_id uuid not null,
  role text not null,
  storage_key text,
  media_type text not null,
  width integer,
  height integer,
  size_bytes bigint not null,
  sha256 text not null,
  -- A signed provenance manifest is stored as an asset of its own, because images are stored without metadata: the
  -- image that the manifest describes, and the digest of the received bytes that the signature covers.
  provenance_of uuid,
  original_sha256 text,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Of small thumbnails, so that copies of an image without metadata are found.
  fingerprint bit(128),
  check ((provenance_of is null) = (original_sha256 is null))
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table assets is
  'Stored files: sources, results, masks and thumbnails of runs. The bytes are in the object storage.';
create index assets_by_run on assets (run_id);
create index assets_by_fingerprint on assets (tenant_id, fingerprint) where fingerprint is not null;

-- A statement can change assets of several tenants. The rows are locked in the order of the tenants, so that two such
-- statements do not deadlock.
create function count_stored_files() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, sum(size_bytes), count(*)
    from added where deleted_at is null and role <> 'thumbnail' group by tenant_id order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  elsif tg_op = 'DELETE' then
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, -sum(size_bytes), -count(*)
    from removed where deleted_at is null and role <> 'thumbnail' group by tenant_id order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  else
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, sum(bytes), sum(files)
    from (
      select tenant_id, size_bytes as bytes, 1 as files from added where deleted_at is null and role <> 'thumbnail'
      union all
      select tenant_id, -size_bytes, -1 from removed where deleted_at is null and role <> 'thumbnail'
    ) as changes
    group by tenant_id having sum(bytes) <> 0 or sum(files) <> 0 order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  end if;
  return null;
end $$;
comment on function count_stored_files is
  'Keeps storage_usage exact when files are inserted, change or are deleted.';

create trigger count_inserted_files after insert on assets
  referencing new table as added for each statement execute function count_stored_files();

create trigger count_deleted_files after delete on assets
  referencing old table as removed for each statement execute function count_stored_files();

create trigger count_changed_files after update on assets
  referencing old table as removed new table as added for each statement execute function count_stored_files();

-- Derived keys are limited too: a digest is a segment of the key, and the role of a tenant writes it.
create function limit_asset_key() returns trigger language plpgsql as $$
begin
  if not is_key_of_current_tenant(asset_key(new.tenant_id, new.run_id, new.sha256, new.storage_key)) then
    raise exception 'the storage key is not below the prefix of the tenant' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
comment on function limit_asset_key is
  'Lets the application store files only below the prefix of their own tenant.';

create trigger limit_asset_key before insert or update of storage_key on assets for each row
  when (current_user in ('gesso_app', 'gesso_end_user')) execute function limit_asset_key();

create trigger limit_derived_asset_key before update of tenant_id, run_id, sha256 on assets for each row
  when (current_user in ('gesso_app', 'gesso_end_user')) execute function limit_asset_key();

-- Stored bytes and files of each tenant: the sums over its rows of `assets` without `deleted_at`. Triggers change a row
-- in the transaction that changes the assets, so every writer is counted.
--
-- A row lock lasts until its transaction is flushed to disk. With one row per tenant, the runs of a tenant would store
-- their outputs one after the other, so each connection changes one of 8 rows (`shard`). A single row may be negative.
create table storage_usage (
  tenant_id uuid not null,
  shard smallint not null,
  bytes bigint not null,
  files bigint not null,
  primary key (tenant_id, shard)
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table storage_usage is
  'Stored bytes and files of each tenant, in shards. Triggers keep them exact.';

-- Expiries are in a table of their own, because rows of `runs` are large and should change rarely.
create table expiring_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  expires_at timestamptz not null
);
comment on table expiring_runs is
  'When the files of ended runs expire.';
create index expiring_runs_by_time on expiring_runs (expires_at);

-- The default retention of the installation. A run gets its expiry when it ends, so that a later change of the
-- setting does not shorten it.
create table retention (
  id boolean primary key default true check (id),
  -- Null: without end.
  days integer check (days > 0)
);
comment on table retention is
  'The period for which files are kept by default.';

insert into retention (days) values (null);

-- Objects in storage without a row in `assets`. One is deleted after it was seen twice with enough time between.
create table orphaned_objects (
  storage_key text primary key,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
comment on table orphaned_objects is
  'Objects without a row, when they were first seen. They are deleted later.';

-- Null: without end. Runs as the role that ends the run, which is the tenant's role for an upload.
create function retention_days(tenant uuid) returns integer language sql stable as $$
  select nullif(coalesce((select tenants.retention_days from tenants where tenant_id = tenant), days, 0), 0)
  from retention
$$;

create function set_expiry() returns trigger language plpgsql as $$
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
comment on function set_expiry is
  'Sets when the files of the run expire, by the period of its tenant, when the run ends.';

-- Whether the tenant may store one more file of this size. The lock is held until the statement that stores the file
-- commits, so that concurrent uploads do not count the same free space.
create function is_within_storage_quota(of_tenant uuid, most_bytes bigint, most_files bigint, new_bytes bigint)
returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('storage/' || of_tenant, 0));
  return (select (most_bytes is null or coalesce(sum(bytes), 0) + new_bytes <= most_bytes)
      and (most_files is null or coalesce(sum(files), 0) < most_files)
    from storage_usage where tenant_id = of_tenant);
end $$;

-- Every segment starts with a letter, a digit, `_` or `-`, so `..` is no segment.
create function is_key_of_current_tenant(storage_key text) returns boolean language sql stable as $$
  select coalesce(storage_key ~ ('^t/' || current_tenant_id() || '(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$'), false)
$$;

create trigger set_expiry before insert or update of finished_at on runs
  for each row execute function set_expiry();

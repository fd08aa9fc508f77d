-- expand: stored bytes and files per tenant, and a dispatch of webhook deliveries that skips suspended tenants

-- Stored bytes and files of each tenant: the sums over its rows of `assets` without `deleted_at`. Triggers change a row
-- in the transaction that changes the assets, so every writer is counted, including the previous version.
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

-- A statement can change assets of several tenants. The rows are locked in the order of the tenants, so that two such
-- statements do not deadlock.
create function count_stored_files() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, sum(size_bytes), count(*)
    from added where deleted_at is null group by tenant_id order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  elsif tg_op = 'DELETE' then
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, -sum(size_bytes), -count(*)
    from removed where deleted_at is null group by tenant_id order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  else
    insert into storage_usage as usage (tenant_id, shard, bytes, files)
    select tenant_id, pg_backend_pid() % 8, sum(bytes), sum(files)
    from (
      select tenant_id, size_bytes as bytes, 1 as files from added where deleted_at is null
      union all
      select tenant_id, -size_bytes, -1 from removed where deleted_at is null
    ) as changes
    group by tenant_id having sum(bytes) <> 0 or sum(files) <> 0 order by tenant_id
    on conflict (tenant_id, shard) do update
    set bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files;
  end if;
  return null;
end $$;

create trigger count_inserted_files after insert on assets
  referencing new table as added for each statement execute function count_stored_files();
create trigger count_deleted_files after delete on assets
  referencing old table as removed for each statement execute function count_stored_files();
create trigger count_changed_files after update on assets
  referencing old table as removed new table as added for each statement execute function count_stored_files();

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

-- As `dispatch_deliveries`, without the deliveries of suspended tenants. A destination belongs to one tenant.
create function dispatch_active_deliveries(slots integer, per_second double precision, most integer)
returns table (delivery_id uuid, tenant_id uuid, epoch bigint) language plpgsql as $$
#variable_conflict use_column
declare
  queue record;
  item record;
  sent integer := 0;
begin
  for queue in
    with recursive found as (
      (select destination, tenant_id, due_at from open_deliveries where dispatched_at is null
       order by destination, due_at limit 1)
      union all
      select next.destination, next.tenant_id, next.due_at from found, lateral (
        select destination, tenant_id, due_at from open_deliveries
        where dispatched_at is null and destination > found.destination order by destination, due_at limit 1) as next
    )
    select destination from found
    where due_at <= clock_timestamp()
      -- A scalar subquery looks one tenant up; `not exists` could become a join that reads all tenants.
      and (select suspended_at from tenants where tenants.tenant_id = found.tenant_id) is null
    order by random()
  loop
    exit when sent >= most;
    -- Another process is claiming slots there: the next dispatch visits the destination again.
    continue when not pg_try_advisory_xact_lock(hashtextextended('webhook/' || queue.destination, 0));
    for item in
      select open.delivery_id, open.tenant_id, open.epoch, open.host from open_deliveries as open
      where open.destination = queue.destination and open.dispatched_at is null and open.due_at <= clock_timestamp()
      order by open.due_at limit slots for update skip locked
    loop
      exit when claim_destination_slot(item.delivery_id, queue.destination, item.host, slots, per_second) > 0;
      update open_deliveries as open
      -- If the engine does not start the delivery within the lease, the reconciler requeues it.
      set dispatched_at = clock_timestamp(), claim_expires_at = clock_timestamp() + interval '20 seconds'
      where open.delivery_id = item.delivery_id;
      delivery_id := item.delivery_id;
      tenant_id := item.tenant_id;
      epoch := item.epoch;
      sent := sent + 1;
      return next;
    end loop;
  end loop;
end $$;

-- expand: thumbnails are not counted as stored files. The program before this one writes none, so it notices nothing.

create or replace function count_stored_files() returns trigger language plpgsql as $$
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

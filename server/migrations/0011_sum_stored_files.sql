-- expand: adds the files that were stored before the triggers of migration 0010 existed to storage_usage

-- The statement sees one snapshot, and in every snapshot the sum over the assets minus what the triggers have counted is
-- the same: the files from before the triggers. So it blocks no writer, and concurrent changes are not counted twice.
-- Shard -1 belongs to no connection.
insert into storage_usage (tenant_id, shard, bytes, files)
select tenant_id, -1, sum(bytes), sum(files)
from (
  select tenant_id, sum(size_bytes) as bytes, count(*) as files from assets where deleted_at is null group by tenant_id
  union all
  select tenant_id, -sum(bytes), -sum(files) from storage_usage group by tenant_id
) as sums
group by tenant_id having sum(bytes) <> 0 or sum(files) <> 0;

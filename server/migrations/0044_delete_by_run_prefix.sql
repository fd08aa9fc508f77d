-- expand: the deletion of a run can name the storage prefix of the run, below which files without a row are deleted, too.
-- The program before it deletes the listed keys and ignores the prefix.

-- As before. A prefix is that of one run of the tenant: not of its archive, and not of all its runs.
create or replace function limit_tenant_outbox() returns trigger language plpgsql as $$
begin
  if new.kind <> 'delete_files' or jsonb_typeof(new.payload -> 'keys') is distinct from 'array' or exists (
    select from jsonb_array_elements_text(new.payload -> 'keys') as item (storage_key)
    where not is_key_of_current_tenant(item.storage_key)
  ) or (new.payload ? 'run_prefix' and coalesce(
    new.payload ->> 'run_prefix' !~ ('^t/' || current_tenant_id() || '/r/[0-9a-f-]{36}/$'), true)
  ) then
    raise exception 'the outbox takes only deletions of the tenant''s own files'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

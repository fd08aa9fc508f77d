-- expand: triggers that limit what the role of a tenant can write: no LoRA name changes, and storage keys only below
-- the tenant's own prefix. The program before it writes nothing else.

-- Registering a name that exists updates it to itself, to lock and read the row. No column may change.
create function forbid_lora_name_changes() returns trigger language plpgsql as $$
begin
  raise exception 'a LoRA name keeps its owner' using errcode = 'insufficient_privilege';
end $$;

create trigger forbid_lora_name_changes before update on lora_names for each row
  when (old.* is distinct from new.* and current_user = 'gesso_app')
  execute function forbid_lora_name_changes();

-- Every segment starts with a letter, a digit, `_` or `-`, so `..` is no segment.
create function is_key_of_current_tenant(storage_key text) returns boolean language sql stable as $$
  select coalesce(storage_key ~ ('^t/' || current_tenant_id() || '(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$'), false)
$$;

create function limit_asset_key() returns trigger language plpgsql as $$
begin
  if not is_key_of_current_tenant(new.storage_key) then
    raise exception 'the storage key is not below the prefix of the tenant' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger limit_asset_key before insert or update of storage_key on assets for each row
  when (current_user = 'gesso_app') execute function limit_asset_key();

-- A tenant only deletes its own files; all other work of the outbox comes from background duties.
create function limit_tenant_outbox() returns trigger language plpgsql as $$
begin
  if new.kind <> 'delete_files' or jsonb_typeof(new.payload -> 'keys') is distinct from 'array' or exists (
    select from jsonb_array_elements_text(new.payload -> 'keys') as item (storage_key)
    where not is_key_of_current_tenant(item.storage_key)
  ) then
    raise exception 'the outbox takes only deletions of the tenant''s own files'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger limit_tenant_outbox before insert on outbox for each row
  when (current_user = 'gesso_app') execute function limit_tenant_outbox();

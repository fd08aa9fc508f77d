-- expand: two callers of a tenant may use the same idempotency key; see `idempotency_keys_by_caller`

-- A program of the previous version knows no callers. Without this trigger, a request whose response was lost would be
-- accepted, and paid, once more if its repetition reaches such a program during an upgrade.
create function keep_idempotency_key_taken() returns trigger language plpgsql as $$
begin
  if exists (select from idempotency_keys where tenant_id = new.tenant_id and key = new.key) then
    return null;
  end if;
  return new;
end $$;

create trigger keep_idempotency_key_taken before insert on idempotency_keys for each row
  when (new.caller_id = '00000000-0000-0000-0000-000000000000') execute function keep_idempotency_key_taken();

alter table idempotency_keys drop constraint idempotency_keys_pkey;

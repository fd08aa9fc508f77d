-- expand: checkpoints of the audit log and their authenticated head. The program before it writes audit entries as
-- before; the trigger marks them for the next checkpoint.

-- Insert-only. A checkpoint records the digest that an audit chain had at one entry. Checkpoints of all tenants are
-- numbered without gaps, and `audit_head` authenticates all of them.
create table audit_checkpoints (
  number bigint primary key,
  tenant_id uuid not null,
  entry bigint not null,
  entry_digest bytea not null,
  created_at timestamptz not null default now()
);
create index audit_checkpoints_by_tenant on audit_checkpoints (tenant_id, entry);

create trigger forbid_checkpoint_changes before update or delete on audit_checkpoints
  for each row execute function forbid_audit_log_changes();
create trigger forbid_checkpoint_truncate before truncate on audit_checkpoints
  for each statement execute function forbid_audit_log_changes();

-- `digest` covers the checkpoints up to `number`. `mac` is an HMAC with a key that is not in the database.
create table audit_head (
  is_single boolean primary key default true check (is_single),
  number bigint not null,
  digest bytea not null,
  key_id text,
  mac bytea,
  sealed_at timestamptz
);
insert into audit_head (number, digest) values (0, '');

-- Tenants whose last entry has no checkpoint yet.
create table audit_pending (
  tenant_id uuid primary key,
  entry bigint not null
);

-- A tenant's role inserts and updates its own row through the trigger, and cannot delete it. It only reads checkpoints.
create policy tenant_isolation on audit_checkpoints for select to gesso_app
  using (tenant_id = (select current_tenant_id()));
create policy tenant_isolation on audit_pending for select to gesso_app
  using (tenant_id = (select current_tenant_id()));
create policy insert_own on audit_pending for insert to gesso_app
  with check (tenant_id = (select current_tenant_id()));
create policy update_own on audit_pending for update to gesso_app
  using (tenant_id = (select current_tenant_id()));

create function mark_audit_entry_pending() returns trigger language plpgsql as $$
begin
  insert into audit_pending (tenant_id, entry) values (new.tenant_id, new.entry)
  on conflict (tenant_id) do update set entry = excluded.entry;
  return null;
end $$;

create trigger mark_audit_entry_pending after insert on audit_log
  for each row execute function mark_audit_entry_pending();

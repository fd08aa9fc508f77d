-- expand: a tenant can be deleted, and its deletion stays as a tombstone

-- One row per deletion, from the request on. It stays after the deletion as its certificate, and has no text of the
-- tenant. The column is not called `tenant_id`, because no tenant reads or writes the table: the role that serves
-- requests only sees which tenants are deleted.
create table tenant_deletions (
  deleted_tenant_id uuid primary key,
  state text not null default 'canceling_runs'
    check (state in ('canceling_runs', 'draining', 'deleting', 'completed')),
  state_since timestamptz not null default now(),
  -- The tenant of the operator, whose audit log gets the completion.
  operator_tenant_id uuid not null,
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  -- Deleted rows by table, and sums of the deleted transfers in micro-dollars by their two accounts.
  deleted_rows jsonb not null default '{}',
  ledger jsonb not null default '{}',
  deleted_objects bigint not null default 0,
  deleted_bytes bigint not null default 0,
  -- Digest of the newest entry of the deleted audit log: an export of the log can be verified against it.
  audit_digest bytea,
  -- SHA-256 of the columns above, set at completion.
  digest bytea,
  check ((state = 'completed') = (completed_at is not null)),
  check ((state = 'completed') = (digest is not null))
);
create index tenant_deletions_open on tenant_deletions (requested_at) where state <> 'completed';

grant select (deleted_tenant_id, state) on tenant_deletions to gesso_app;

-- The sums of two objects of numbers, by key.
create function add_counts(one jsonb, other jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(key, total), '{}')
  from (
    select key, sum(value::numeric) as total
    from (
      select key, value from jsonb_each_text(one) union all select key, value from jsonb_each_text(other)
    ) as counts group by key
  ) as totals
  where total <> 0
$$;

-- A request that was admitted before the tenant was suspended creates no run after the deletion has begun.
create function refuse_run_of_deleted_tenant() returns trigger language plpgsql as $$
begin
  if exists (select from tenant_deletions where deleted_tenant_id = new.tenant_id) then
    raise exception 'tenant %: it is being deleted', new.tenant_id using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger refuse_run_of_deleted_tenant before insert on runs
  for each row execute function refuse_run_of_deleted_tenant();

-- As before, except that the transfers of a tenant that is being deleted can be deleted.
create or replace function forbid_transfer_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from tenant_deletions where deleted_tenant_id = old.tenant_id and state = 'deleting') then
      return old;
    end if;
  end if;
  raise exception 'transfer % of %: transfers are never changed', old.kind, old.cause_id
    using errcode = 'check_violation';
end $$;

-- As before, except that the entries of a tenant that is being deleted can be deleted.
create or replace function forbid_audit_log_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from tenant_deletions where deleted_tenant_id = old.tenant_id and state = 'deleting') then
      return old;
    end if;
  end if;
  raise exception 'the audit log is never changed' using errcode = 'check_violation';
end $$;

-- No role has the right to delete audit entries. The whole log of a tenant that is being deleted is deleted by this
-- function, with the rights of the owner of the table, for whom the policy makes those rows visible.
create policy tenant_deletion on audit_log to current_user using (exists (
  select from tenant_deletions where deleted_tenant_id = audit_log.tenant_id and state = 'deleting'));

create function delete_audit_log(of_tenant uuid, out entries bigint, out last_digest bytea)
language plpgsql security definer set search_path from current as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('audit/' || of_tenant, 0));
  select audit_log.digest into last_digest from audit_log
  where tenant_id = of_tenant and exists (
    select from tenant_deletions where deleted_tenant_id = of_tenant and state = 'deleting')
  order by entry desc limit 1;
  delete from audit_log where tenant_id = of_tenant and last_digest is not null;
  get diagnostics entries = row_count;
end $$;

-- The form in which the LoRA name of a deleted tenant stays reserved. The separator is no part of any name.
create function lora_digest(name text) returns text language sql immutable as $$
  select 'sha256:' || encode(sha256(convert_to(name, 'UTF8')), 'hex')
$$;

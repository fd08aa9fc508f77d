-- Who may do what: tenants, the people in them, their keys, and the record of every change to these.
create table tenants (
  tenant_id uuid primary key,
  name text not null,
  -- The tenant's share of what there is, beside the others' shares.
  weight double precision not null default 1 check (weight > 0),
  limits jsonb not null default '{}',
  suspended_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

insert into tenants (tenant_id, name) values ('00000000-0000-7000-8000-000000000001', 'default');

-- A person is known within a tenant only; the same person in two tenants is two rows. Who was removed stays as a row, so
-- that an identity provider that still vouches for them does not bring them back.
create table members (
  tenant_id uuid not null references tenants,
  user_id text not null,
  role text not null check (role in ('owner', 'developer', 'viewer')),
  name text,
  email text,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, user_id)
);

-- A tenant without an owner could never be helped by its own people again. The lock makes two who go at the same moment go
-- one after the other.
create function keep_owner() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('owner/' || old.tenant_id, 0));
  if not exists (select from members where tenant_id = old.tenant_id and role = 'owner' and removed_at is null) then
    raise exception 'tenant %: it would have no owner', old.tenant_id using errcode = 'check_violation';
  end if;
  return null;
end $$;

create trigger keep_owner after update on members for each row
  when (old.role = 'owner' and old.removed_at is null and (new.role <> 'owner' or new.removed_at is not null))
  execute function keep_owner();

-- Of a key only its digest is kept. `hint` is its last characters, for people to tell keys apart.
create table api_keys (
  key_id uuid primary key,
  tenant_id uuid not null,
  user_id text not null,
  name text not null,
  digest bytea not null unique,
  hint text not null,
  scopes text[] not null,
  limits jsonb not null default '{}',
  -- When it ends by itself: as it was made to, or because another has taken its place.
  expires_at timestamptz,
  replaced_by uuid,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (tenant_id, user_id) references members
);

create index api_keys_by_tenant on api_keys (tenant_id, key_id);

-- Insert-only. Every entry holds the digest of the one before, so a change in the middle shows.
create table audit (
  tenant_id uuid not null,
  entry bigint not null,
  at timestamptz not null,
  user_id text not null,
  key_id uuid,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  digest bytea not null,
  primary key (tenant_id, entry)
);

create function audit_digest(one audit, previous bytea) returns bytea language sql immutable as $$
  select sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
    one.tenant_id, one.entry, extract(epoch from one.at), one.user_id, one.key_id, one.action, one.subject, one.details)::text, 'UTF8'))
$$;

-- Entries of a tenant are written one after the other, so that each knows the one before it.
create function chain_audit() returns trigger language plpgsql as $$
declare
  last audit;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit/' || new.tenant_id, 0));
  select * into last from audit where tenant_id = new.tenant_id order by entry desc limit 1;
  new.entry := coalesce(last.entry, 0) + 1;
  new.at := clock_timestamp();
  new.digest := audit_digest(new, last.digest);
  return new;
end $$;

create trigger chain_audit before insert on audit for each row execute function chain_audit();

create function keep_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is never changed' using errcode = 'check_violation';
end $$;

create trigger keep_audit before update or delete on audit for each row execute function keep_audit();
create trigger keep_audit_whole before truncate on audit for each statement execute function keep_audit();

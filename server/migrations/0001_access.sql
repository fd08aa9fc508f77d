-- Access: tenants, members, API keys, the audit log, idempotency keys and rate limits.

create table tenants (
  tenant_id uuid primary key,
  name text not null,
  -- Share of the capacity in weighted fair queueing.
  weight double precision not null default 1 check (weight > 0),
  limits jsonb not null default '{}',
  -- Days that files of ended runs are stored. 0: without end. Null: the default of the installation.
  retention_days integer check (retention_days >= 0),
  suspended_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

insert into tenants (tenant_id, name) values ('00000000-0000-7000-8000-000000000001', 'default');

-- A person belongs to one tenant; the same person in two tenants is two rows. A removed member stays as a row with
-- `removed_at`, so that single sign-on does not add the person again.
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

-- Every tenant has at least one owner. The lock serializes two owners that leave at the same time.
create function require_tenant_owner() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('owner/' || old.tenant_id, 0));
  if not exists (select from members where tenant_id = old.tenant_id and role = 'owner' and removed_at is null) then
    raise exception 'tenant %: it would have no owner', old.tenant_id using errcode = 'check_violation';
  end if;
  return null;
end $$;

create trigger require_tenant_owner after update on members for each row
  when (old.role = 'owner' and old.removed_at is null and (new.role <> 'owner' or new.removed_at is not null))
  execute function require_tenant_owner();

-- Only the digest of a key is stored. `hint` is the last characters of the key, to tell keys apart in lists.
create table api_keys (
  key_id uuid primary key,
  tenant_id uuid not null,
  user_id text not null,
  name text not null,
  digest bytea not null unique,
  hint text not null,
  scopes text[] not null,
  limits jsonb not null default '{}',
  -- Set when the key is created, or when it is rotated and only valid for the overlap.
  expires_at timestamptz,
  replaced_by uuid,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (tenant_id, user_id) references members
);

create index api_keys_by_tenant on api_keys (tenant_id, key_id);

-- Insert-only. Every entry includes the digest of the entry before it, so that a changed entry is detected.
create table audit_log (
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

create function audit_digest(one audit_log, previous bytea) returns bytea language sql immutable as $$
  select sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
    one.tenant_id, one.entry, extract(epoch from one.at), one.user_id, one.key_id, one.action, one.subject, one.details
  )::text, 'UTF8'))
$$;

-- The lock serializes the entries of one tenant, because each entry needs the digest of the one before it.
create function chain_audit_log() returns trigger language plpgsql as $$
declare
  last audit_log;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit/' || new.tenant_id, 0));
  select * into last from audit_log where tenant_id = new.tenant_id order by entry desc limit 1;
  new.entry := coalesce(last.entry, 0) + 1;
  new.at := clock_timestamp();
  new.digest := audit_digest(new, last.digest);
  return new;
end $$;

create trigger chain_audit_log before insert on audit_log for each row execute function chain_audit_log();

create function forbid_audit_log_changes() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is never changed' using errcode = 'check_violation';
end $$;

create trigger forbid_audit_log_changes before update or delete on audit_log
  for each row execute function forbid_audit_log_changes();
create trigger forbid_audit_log_truncate before truncate on audit_log
  for each statement execute function forbid_audit_log_changes();

-- Maintenance deletes expired keys.
create table idempotency_keys (
  tenant_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  -- What the request created. For a credit, `resource_id` is the cause of its ledger transfer.
  resource_kind text not null check (resource_kind in
    ('run', 'prompt', 'custom_model', 'model_grant', 'api_key', 'tenant', 'webhook', 'credit')),
  resource_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, key)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Token buckets of rate limits. Unlogged: a crash only refills them.
create unlogged table token_buckets (
  bucket text primary key,
  tokens double precision not null,
  filled_at timestamptz not null
) with (fillfactor = 50);

create index token_buckets_by_age on token_buckets (filled_at);

-- Returns `back` tokens to the bucket, then takes up to `want` whole tokens. The bucket holds at most `most` tokens
-- and refills at `per_second`.
create function take_tokens(of_bucket text, most double precision, per_second double precision,
  want integer, back integer, out granted integer, out remaining double precision) language plpgsql as $$
begin
  insert into token_buckets (bucket, tokens, filled_at) values (of_bucket, most, clock_timestamp())
  on conflict do nothing;
  select least(most, tokens + back + extract(epoch from clock_timestamp() - filled_at) * per_second) into remaining
  from token_buckets where bucket = of_bucket for update;
  granted := greatest(0, least(want, floor(remaining)));
  remaining := remaining - granted;
  update token_buckets set tokens = remaining, filled_at = clock_timestamp() where bucket = of_bucket;
end $$;

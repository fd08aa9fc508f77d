-- Access: tenants, members, API keys, sessions of the console, rate limits, the audit log, and the deletion of tenants.
--
-- Functions name tables of later files, which PostgreSQL would look for when it creates them.
set local check_function_bodies = off;

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
  updated_at timestamptz not null default now(),
  -- Null: the default of the installation. Otherwise `mode` (off, mark or sign) and `prompt` (whether manifests contain
  -- it).
  provenance jsonb,
  -- Days after which ended runs are archived. 0: never. Null: the default of the installation.
  archive_after_days integer
);
comment on table tenants is
  'Customers of the installation. Each has its own members, keys, runs, files and money.';

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
  -- Whether the role follows from the claims of the person's last sign-in or token (`roles` of an entry of
  -- OIDC_ISSUERS). Such a member who was removed for want of a role comes back with the next claims that give one.
  is_role_mapped boolean not null default false,
  -- When the role was last decided: by an owner, or by a token that was issued then. Claims that are older have no
  -- effect. Null: before the first decision.
  role_set_at timestamptz,
  primary key (tenant_id, user_id)
);
comment on table members is
  'Users of a tenant with their roles. Every tenant has an owner.';

-- Every tenant has at least one owner. The lock serializes two owners that leave at the same time.
create function require_tenant_owner() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('owner/' || old.tenant_id, 0));
  if not exists (select from members where tenant_id = old.tenant_id and role = 'owner' and removed_at is null) then
    raise exception 'tenant %: it would have no owner', old.tenant_id using errcode = 'check_violation';
  end if;
  return null;
end $$;
comment on function require_tenant_owner is
  'Refuses to leave a tenant without an owner.';

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
  -- Whose limits the use of the key counts against: those of the keys it was made with, the root first, and its own
  -- last. A rotated key counts against the first key of its rotation, so that old and new key share its limits and its
  -- children. Empty: only against itself.
  holder_ids uuid[] not null default '{}',
  foreign key (tenant_id, user_id) references members
);
comment on table api_keys is
  'API keys as digests. holder_ids are the keys above it, whose limits count its use, too.';
create index api_keys_by_tenant on api_keys (tenant_id, key_id);
create index api_keys_by_holder on api_keys using gin (holder_ids);

-- One row per session in a browser, until it ends or expires. Only the digest of the cookie's value is stored. A
-- session that came from a key has the rights of the key, and ends with it; one that came from an identity provider has
-- `scopes`. Both have the role of the member.
create table console_sessions (
  session_id uuid primary key,
  tenant_id uuid not null,
  user_id text not null,
  digest bytea not null unique,
  method text not null check (method in ('code', 'key', 'oidc')),
  key_id uuid references api_keys on delete cascade,
  -- `id` of an entry of OIDC_ISSUERS.
  issuer text,
  scopes text[] not null default '{}',
  -- When the person last proved who they are. Null: an identity provider did not say.
  last_login_at timestamptz,
  last_seen_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  -- `sub` and `sid` of the ID token. Null: the session came from a key, or the provider has no sessions.
  provider_subject text,
  provider_session text,
  foreign key (tenant_id, user_id) references members on delete cascade,
  check ((method = 'oidc') = (key_id is null)),
  check ((method = 'oidc') = (issuer is not null))
);
comment on table console_sessions is
  'Sessions of the console. A session has the rights of its key, or of the member that signed in.';
create index console_sessions_by_member on console_sessions (tenant_id, user_id, session_id);
create index console_sessions_by_key on console_sessions (key_id);
create index console_sessions_by_age on console_sessions (last_seen_at);

-- Exchanged once for a session. Deleted by the exchange, or by maintenance after they expired.
create table console_codes (
  digest bytea primary key,
  tenant_id uuid not null,
  key_id uuid not null references api_keys on delete cascade,
  expires_at timestamptz not null
);
comment on table console_codes is
  'One-time codes that open the console from a terminal.';
create index console_codes_by_key on console_codes (key_id);
create index console_codes_by_age on console_codes (expires_at);

-- Tokens with which identity providers ended sessions (OpenID Connect Back-Channel Logout 1.0), until they expire: each
-- is accepted once. Deleted by maintenance afterwards.
create table used_logout_tokens (
  issuer text not null,
  token_id text not null,
  expires_at timestamptz not null,
  primary key (issuer, token_id)
);
comment on table used_logout_tokens is
  'Logout tokens of identity providers that were used. Each counts once.';
create index used_logout_tokens_by_age on used_logout_tokens (expires_at);

-- Token buckets of rate limits. Unlogged: a crash only refills them.
create unlogged table token_buckets (
  bucket text primary key,
  tokens double precision not null,
  filled_at timestamptz not null
) with (fillfactor = 50);
comment on table token_buckets is
  'Rate limits of tenants, keys and webhook hosts, shared by all processes.';
create index token_buckets_by_age on token_buckets (filled_at);

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
comment on table audit_log is
  'Changes of access, money and the installation, and what operators read. Each entry contains the digest of the one before.';

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
comment on function chain_audit_log is
  'Gives an audit entry its number and the digest that contains the one before.';

create trigger chain_audit_log before insert on audit_log for each row execute function chain_audit_log();

-- Entries of a tenant that is being deleted can be deleted, and entries after the archive file that contains them was
-- verified.
create function forbid_audit_log_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from tenant_deletions where deleted_tenant_id = old.tenant_id and state = 'deleting') or (
      tg_table_name = 'audit_log' and exists (
        select from archive_batches
        where tenant_id = old.tenant_id and kind = 'audit' and state = 'verified'
          and old.entry between first_entry and last_entry)
    ) then
      return old;
    end if;
  end if;
  raise exception 'the audit log is never changed' using errcode = 'check_violation';
end $$;
comment on function forbid_audit_log_changes is
  'Refuses changes and deletions of audit entries and checkpoints.';

create trigger forbid_audit_log_changes before update or delete on audit_log
  for each row execute function forbid_audit_log_changes();

create trigger forbid_audit_log_truncate before truncate on audit_log
  for each statement execute function forbid_audit_log_changes();

create function mark_audit_entry_pending() returns trigger language plpgsql as $$
begin
  insert into audit_pending (tenant_id, entry) values (new.tenant_id, new.entry)
  on conflict (tenant_id) do update set entry = excluded.entry;
  return null;
end $$;
comment on function mark_audit_entry_pending is
  'Marks the tenant, whose last audit entry has no checkpoint yet.';

create trigger mark_audit_entry_pending after insert on audit_log
  for each row execute function mark_audit_entry_pending();

-- Tenants whose last entry has no checkpoint yet.
create table audit_pending (
  tenant_id uuid primary key,
  entry bigint not null
);
comment on table audit_pending is
  'Tenants whose last audit entry has no checkpoint yet.';

-- Insert-only. A checkpoint records the digest that an audit chain had at one entry. Checkpoints of all tenants are
-- numbered without gaps, and `audit_head` authenticates all of them.
create table audit_checkpoints (
  number bigint primary key,
  tenant_id uuid not null,
  entry bigint not null,
  entry_digest bytea not null,
  created_at timestamptz not null default now()
);
comment on table audit_checkpoints is
  'Signed positions of the audit log of each tenant, so that a removed end is noticed.';
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
comment on table audit_head is
  'The last checkpoint of all, authenticated with a key that the database does not have.';

insert into audit_head (number, digest) values (0, '');

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
comment on table tenant_deletions is
  'Tenants that are deleted or were deleted, with what was removed. Remains as the proof.';
create index tenant_deletions_open on tenant_deletions (requested_at) where state <> 'completed';

create function audit_digest(one audit_log, previous bytea) returns bytea language sql immutable as $$
  select sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
    one.tenant_id, one.entry, extract(epoch from one.at), one.user_id, one.key_id, one.action, one.subject, one.details
  )::text, 'UTF8'))
$$;

-- Returns `back` tokens to the bucket, then takes up to `want` whole tokens. The bucket holds at most `most` tokens
-- and refills at `per_second`.
create function take_tokens(of_bucket text, most double precision, per_second double precision,
  want integer, back integer, out granted integer, out remaining double precision) language plpgsql as $$
declare
  counted_from timestamptz;
  counted_until timestamptz;
begin
  insert into token_buckets (bucket, tokens, filled_at) values (of_bucket, most, clock_timestamp())
  on conflict do nothing;
  select tokens, filled_at into remaining, counted_from from token_buckets where bucket = of_bucket for update;
  -- After the lock: while this statement waited for it, another one has counted.
  counted_until := clock_timestamp();
  remaining := least(most,
    remaining + back + greatest(0, extract(epoch from counted_until - counted_from)) * per_second);
  granted := greatest(0, least(want, floor(remaining)));
  remaining := remaining - granted;
  update token_buckets set tokens = remaining, filled_at = counted_until where bucket = of_bucket;
end $$;

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

create function key_holders(of_key uuid, holder_ids uuid[]) returns uuid[] language sql immutable parallel safe as $$
  select case when holder_ids = '{}' then array[of_key] else holder_ids end
$$;

create function key_holder(of_key uuid, holder_ids uuid[]) returns uuid language sql immutable parallel safe as $$
  select coalesce(holder_ids[cardinality(holder_ids)], of_key)
$$;

create function keys_above(holder_ids uuid[]) returns uuid[] language sql immutable parallel safe as $$
  select holder_ids[1:cardinality(holder_ids) - 1]
$$;

-- Serializes what changes the tree of a tenant's keys, until the statement commits.
create function lock_key_tree(of_tenant uuid) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('keys/' || of_tenant, 0));
end $$;

-- The holders of a new key. Null if its parent is no longer valid. The parent is read after the lock, so a parent that
-- is revoked at the same time gets no child that survives it.
create function holders_of_new_key(of_tenant uuid, of_key uuid, of_parent uuid) returns uuid[] language plpgsql as $$
begin
  if of_parent is null then
    return '{}';
  end if;
  perform lock_key_tree(of_tenant);
  return (
    select key_holders(key_id, holder_ids) || of_key from api_keys
    where tenant_id = of_tenant and key_id = of_parent and revoked_at is null
      and (expires_at is null or expires_at > now()));
end $$;

-- Revokes a key and its descendants. Those in `kept_ids`, or all with `keep_children`, stay valid with their own
-- descendants, below the nearest key that stays. A key that was rotated leaves its descendants to its replacement.
create function revoke_key_tree(of_tenant uuid, of_key uuid, keep_children boolean, kept_ids uuid[])
returns table (key_id uuid, name text, hint text, user_id text, revoked_at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
  target uuid;
  ended uuid[];
  ended_holders uuid[];
  kept uuid[] := '{}';
begin
  perform lock_key_tree(of_tenant);
  select key_holder(key_id, holder_ids) into target
  from api_keys where tenant_id = of_tenant and key_id = of_key and revoked_at is null;
  if not found then
    return;
  end if;
  ended := array[of_key];
  if not exists (
    select from api_keys where tenant_id = of_tenant and key_id <> of_key and key_holder(key_id, holder_ids) = target
      and replaced_by is null and revoked_at is null and (expires_at is null or expires_at > now())
  ) then
    with below as (
      select key_id, holder_ids, key_holder(key_id, holder_ids) as holder from api_keys
      where tenant_id = of_tenant and target = any(holder_ids) and key_holder(key_id, holder_ids) <> target
        and revoked_at is null and (expires_at is null or expires_at > now())
    ), kept_holders as (
      select coalesce(array_agg(holder), '{}') as ids from below where keep_children or key_id = any(kept_ids)
    )
    select ended || coalesce(array_agg(key_id) filter (where not holder_ids && ids), '{}'),
      target || coalesce(array_agg(holder) filter (where not holder_ids && ids), '{}'),
      coalesce(array_agg(key_id) filter (where holder_ids && ids), '{}')
    into ended, ended_holders, kept
    from below, kept_holders;
  end if;
  perform from api_keys where key_id = any(ended || kept) order by key_id for update;
  return query
    update api_keys set updated_at = now(),
      revoked_at = case when key_id = any(ended) then now() end,
      holder_ids = case when key_id = any(ended) then holder_ids else array(
        select holder from unnest(holder_ids) with ordinality as own (holder, place)
        where holder <> all(ended_holders) order by place) end
    where tenant_id = of_tenant and key_id = any(ended || kept)
    returning key_id, name, hint, user_id, revoked_at;
end $$;

-- expand: sessions of the console and one-time codes that begin one

-- One row per session in a browser, until it ends or expires. Only the digest of the cookie's value is stored. A session
-- that came from a key has the rights of the key, and ends with it; one that came from an identity provider has `scopes`.
-- Both have the role of the member.
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
  foreign key (tenant_id, user_id) references members on delete cascade,
  check ((method = 'oidc') = (key_id is null)),
  check ((method = 'oidc') = (issuer is not null))
);
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
create index console_codes_by_key on console_codes (key_id);
create index console_codes_by_age on console_codes (expires_at);

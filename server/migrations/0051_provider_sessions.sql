-- expand: a session of the console knows its person and its session at the identity provider, which can end it

alter table console_sessions
  -- `sub` and `sid` of the ID token. Null: the session came from a key, or the provider has no sessions.
  add column provider_subject text,
  add column provider_session text;

-- Tokens with which identity providers ended sessions (OpenID Connect Back-Channel Logout 1.0), until they expire: each
-- is accepted once. Deleted by maintenance afterwards.
create table used_logout_tokens (
  issuer text not null,
  token_id text not null,
  expires_at timestamptz not null,
  primary key (issuer, token_id)
);
create index used_logout_tokens_by_age on used_logout_tokens (expires_at);

-- expand: requests of clients that re-send a create without an idempotency key

-- One row per request of such a client, for 15 minutes. A request that repeats an earlier one takes over its
-- idempotency key; the earlier one is then `joined`, so that each request is repeated at most once.
create table client_requests (
  request_id uuid primary key,
  tenant_id uuid not null,
  fingerprint bytea not null,
  idempotency_key text not null,
  state text not null default 'open' check (state in ('open', 'answered', 'lost', 'joined')),
  -- The advisory lock of the API process. A lock that is free belongs to a process that died.
  holder bigint not null,
  created_at timestamptz not null default now()
);
create index client_requests_by_fingerprint on client_requests (tenant_id, fingerprint, request_id);
create index client_requests_by_age on client_requests (created_at);

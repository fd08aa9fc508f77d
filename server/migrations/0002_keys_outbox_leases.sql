-- Idempotency keys must be unique over their whole life, so they are spread by hash, not by time; old ones are deleted.
create table idempotency_keys (
  tenant_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  run_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, key)
) partition by hash (tenant_id, key);

do $$ begin
  for part in 0..7 loop
    execute format('create table idempotency_keys_%s partition of idempotency_keys for values with (modulus 8, remainder %s)', part, part);
  end loop;
end $$;

create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Work that must follow a committed change and may be repeated: cancel a job at its provider, delete files.
create table outbox (
  outbox_id uuid primary key,
  kind text not null,
  payload jsonb not null,
  tries smallint not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);

create index outbox_due on outbox (due_at);

-- Who does what only one process may do at a time: a shard of the dispatcher, a provider's poller, the reconciler.
create table leases (
  name text primary key,
  holder text not null,
  until timestamptz not null
);

-- One row: the mark that we left in the engine. An engine that does not know it has lost everything.
create table engine_mark (
  id boolean primary key default true check (id),
  mark uuid not null,
  set_at timestamptz not null default now()
);

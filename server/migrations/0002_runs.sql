-- Runs and their files. Ended runs are read by id or listed by tenant. Runs in progress also have a row in
-- `open_runs`, so that no hot query reads an ended run.
--
-- Ids are UUIDv7: they sort by time, so an id range is a time range, and new rows are at the end of each index. No
-- table is partitioned: a prepared plan locks every partition of its tables, so that each statement would take more
-- locks every day. There are no foreign keys between these tables, because one statement writes both sides. The fill
-- factor of tables whose rows change leaves space in each page for heap-only updates.

create function uuid_floor(moment timestamptz) returns uuid language sql immutable strict as $$
  select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000')::uuid
  from (select lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') as hex) as digits
$$;

create table runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  user_id text not null,
  key_id uuid,
  operation text not null,
  run_type text not null,
  status text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed', 'canceled')),
  progress real not null default 0,
  phase text,
  parent_run_id uuid,
  root_run_id uuid not null,
  depth smallint not null default 1 check (depth between 1 and 64),
  inputs jsonb not null,
  plan jsonb not null,
  metadata jsonb not null default '{}',
  webhook_url text,
  model text,
  provider text,
  result jsonb,
  error jsonb,
  cost jsonb,
  warnings jsonb not null default '[]',
  -- `xact` of the newest event of the run. A change that waited for the row lock reuses this value, so that its event
  -- sorts after the event it waited for although its own transaction may be older.
  last_event_xact bigint not null default 0,
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  deleted_at timestamptz,
  check ((finished_at is not null) = (status in ('completed', 'failed', 'canceled'))),
  check ((result is not null) = (status = 'completed')),
  check ((error is not null) = (status in ('failed', 'canceled'))),
  check ((progress = 1) = (status = 'completed')),
  check (progress between 0 and 1),
  check (cost is null or status in ('completed', 'canceled')),
  check (parent_run_id is distinct from run_id),
  check ((parent_run_id is null) = (depth = 1)),
  check ((parent_run_id is null) = (root_run_id = run_id))
) with (fillfactor = 70);

-- No index contains a column that changes, so that updates are heap-only (HOT). Runs by status are found through
-- `open_runs` or `unsuccessful_runs`.
create index runs_by_tenant on runs (tenant_id, run_id desc);
create index runs_by_parent on runs (parent_run_id, run_id) where parent_run_id is not null;
create index runs_by_root on runs (root_run_id, run_id) where parent_run_id is not null;

-- Index of failed and canceled runs.
create table unsuccessful_runs (
  tenant_id uuid not null,
  status text not null check (status in ('failed', 'canceled')),
  run_id uuid not null,
  primary key (tenant_id, status, run_id)
);

-- Runs whose images a run uses, other than its parent.
create table run_references (
  run_id uuid not null,
  source_run_id uuid not null,
  root_run_id uuid not null,
  primary key (run_id, source_run_id)
);

create index run_references_by_root on run_references (root_run_id);

-- The state machine of a run. The database refuses a forbidden transition from any writer.
create function enforce_run_state_machine() returns trigger language plpgsql as $$
begin
  if new.run_id <> old.run_id or new.tenant_id <> old.tenant_id or new.created_at <> old.created_at then
    raise exception 'run %: identity never changes', old.run_id using errcode = 'check_violation';
  end if;
  if old.status in ('completed', 'failed', 'canceled') and
     (new.status, new.progress, new.cost, new.finished_at) is distinct from
     (old.status, old.progress, old.cost, old.finished_at) then
    raise exception 'run %: % is an end', old.run_id, old.status using errcode = 'check_violation';
  end if;
  -- Deleting an ended run clears what its result or error says.
  if old.status in ('completed', 'failed', 'canceled') and (new.deleted_at is null or old.deleted_at is not null) and
     (new.result, new.error) is distinct from (old.result, old.error) then
    raise exception 'run %: % is an end', old.run_id, old.status using errcode = 'check_violation';
  end if;
  if new.status <> old.status and not (
    (old.status = 'queued' and new.status in ('processing', 'failed', 'canceled')) or
    (old.status = 'processing' and new.status in ('completed', 'failed', 'canceled'))
  ) then
    raise exception 'run %: % to % is no transition', old.run_id, old.status, new.status
      using errcode = 'check_violation';
  end if;
  if new.progress < old.progress then
    raise exception 'run %: progress never falls', old.run_id using errcode = 'check_violation';
  end if;
  if new.deleted_at is not null and new.status not in ('completed', 'failed', 'canceled') then
    raise exception 'run %: an open run cannot be deleted', old.run_id using errcode = 'check_violation';
  end if;
  new.updated_at := greatest(now(), old.updated_at);
  return new;
end $$;

create trigger enforce_run_state_machine before update on runs
  for each row execute function enforce_run_state_machine();

-- Runs form trees. A parent exists before its child, one level above it, in the same tree and tenant, and a run never
-- moves. The depth grows along every edge, so no run can be its own ancestor.
create function enforce_run_tree() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'run %: its place in the tree never changes', old.run_id using errcode = 'check_violation';
  end if;
  if not exists (
    select from runs where run_id = new.parent_run_id and tenant_id = new.tenant_id
      and root_run_id = new.root_run_id and depth = new.depth - 1
  ) then
    raise exception 'run %: its parent is not one level above it', new.run_id using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger enforce_tree_position before insert on runs for each row
  when (new.parent_run_id is not null) execute function enforce_run_tree();

create trigger forbid_tree_moves before update on runs for each row
  when ((new.parent_run_id, new.root_run_id, new.depth) is distinct from
    (old.parent_run_id, old.root_run_id, old.depth))
  execute function enforce_run_tree();

-- Runs in progress. The row is the right to end the run: the statement that deletes it ends the run, exactly once.
-- `epoch` is the fencing token of engine invocations. One reconciler scans the table for expired claims, so the
-- columns that every step writes have no index.
create table open_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  key_id uuid,
  -- The provider the run was planned for at acceptance. Each tenant has one queue per lane, so that runs that wait
  -- for one provider do not delay runs of another.
  lane text not null default '',
  epoch integer not null default 0,
  requeue_count smallint not null default 0,
  dispatched_at timestamptz,
  started_at timestamptz,
  -- Lease of the current step. The reconciler requeues the run afterwards. While the run has open requests, their
  -- leases count instead.
  claim_expires_at timestamptz,
  deadline_at timestamptz not null,
  cancel_requested_at timestamptz,
  -- What a dispatched run does: `working` uses this installation, `in_requests` means that the rows of `open_requests`
  -- say what each request of the run does.
  activity text check (activity in ('working', 'in_requests')),
  -- The reservation in micro-dollars (null: unknown price), its account, and the budgets that count it.
  reserved bigint check (reserved >= 0),
  reserved_from text check (reserved_from in ('available', 'credit')),
  budget_holders uuid[]
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index open_runs_by_tenant on open_runs (tenant_id, run_id);
create index open_runs_waiting on open_runs (tenant_id, lane, run_id) where dispatched_at is null;
create index open_runs_busy on open_runs (lane) where activity = 'working';

-- Provider requests in progress: one row from the first submission of a request until its output is stored or it has
-- failed. The requests of one job are in progress side by side, so each has its own wakeup, ticket, provider slot and
-- lease. The foreign key makes sure that no ended run occupies a provider slot.
create table open_requests (
  run_id uuid not null references open_runs on delete cascade,
  -- As in `planned_requests`.
  request_index smallint not null,
  tenant_id uuid not null,
  lane text not null,
  -- Lease of the current step of the request; null after the run was requeued.
  claim_expires_at timestamptz,
  -- `working` uses this installation, `waiting_for_slot` waits for a concurrency slot of the provider, `at_provider`
  -- only waits for the provider and uses no capacity here.
  activity text check (activity in ('working', 'waiting_for_slot', 'at_provider')),
  -- The awakeable that resumes the request in the engine.
  wakeup_id text,
  provider text,
  attempt_number smallint,
  ticket jsonb,
  submitted_at timestamptz,
  next_poll_at timestamptz,
  provider_unreachable_since timestamptz,
  -- The provider whose concurrency slot the request holds.
  provider_slot text,
  -- The provider whose slot the request waits for, since when, and when it last asked.
  slot_provider text,
  slot_wanted_since timestamptz,
  slot_last_asked_at timestamptz,
  primary key (run_id, request_index)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index open_requests_busy on open_requests (lane) where activity <> 'at_provider';
create index open_requests_to_poll on open_requests (provider, next_poll_at) where next_poll_at is not null;
create index open_requests_with_slot on open_requests (provider_slot) where provider_slot is not null;
create index open_requests_waiting_for_slot on open_requests (slot_provider) where slot_provider is not null;

-- One row per provider request of a plan, with the selected offer. A request with an output is never submitted again.
create table planned_requests (
  run_id uuid not null,
  -- Index of the job in the plan + 100 * number of the request within the job.
  request_index smallint not null,
  provider text not null,
  model text not null,
  upstream text not null,
  output jsonb,
  finished_at timestamptz,
  primary key (run_id, request_index)
) with (fillfactor = 70);

-- One row per submission that may cost money. The row is inserted before the HTTP request and holds a lease while the
-- request is in flight: no other worker submits the request until the lease has expired and the outcome is resolved.
create table attempts (
  run_id uuid not null,
  request_index smallint not null,
  attempt_number smallint not null,
  -- The idempotency key sent to the provider.
  idempotency_key text not null,
  epoch integer not null,
  provider text not null,
  upstream text,
  state text not null check (state in ('intent', 'submitted', 'succeeded', 'failed', 'unknown', 'abandoned')),
  send_count smallint not null default 1,
  lease_until timestamptz,
  -- Identifies the holder of the lease. A process that lost its lease to another one changes nothing any more.
  lease_token uuid,
  -- The spool directory of the worker that sent the request and has not reported its end. If the outcome is unknown,
  -- that directory may have the response.
  spool_id uuid,
  unknown_since timestamptz,
  ticket jsonb,
  -- The request as sent, without secrets and image data.
  request jsonb,
  fault jsonb,
  -- The run ends with this attempt. A replayed step reads it, so that an attempt that was given up with an unknown
  -- outcome is not submitted a second time.
  is_final boolean not null default false,
  -- Expected charge of the provider in micro-dollars; null if unknown.
  price bigint check (price >= 0),
  created_at timestamptz not null default now(),
  submitted_at timestamptz,
  finished_at timestamptz,
  primary key (run_id, request_index, attempt_number)
) with (fillfactor = 70);

-- Stored files. The id of an asset has the timestamp of its run, so that both sort alike.
create table assets (
  asset_id uuid primary key,
  run_id uuid not null,
  tenant_id uuid not null,
  role text not null,
  storage_key text not null,
  media_type text not null,
  width integer not null,
  height integer not null,
  size_bytes bigint not null,
  sha256 text not null,
  -- A signed provenance manifest is stored as an asset of its own, because images are stored without metadata: the
  -- image that the manifest describes, and the digest of the received bytes that the signature covers.
  provenance_of uuid,
  original_sha256 text,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  check ((provenance_of is null) = (original_sha256 is null))
) with (fillfactor = 90);

create index assets_by_run on assets (run_id);

-- Runs whose inline images were stored before the run was accepted. A row that stays without its run marks images of a
-- request that never ended; a duty deletes them.
create table staged_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  staged_at timestamptz not null default now()
);

create index staged_runs_by_time on staged_runs (staged_at);

-- The default retention of the installation. A run gets its expiry when it ends, so that a later change of the
-- setting does not shorten it.
create table retention (
  id boolean primary key default true check (id),
  -- Null: without end.
  days integer check (days > 0)
);
insert into retention (days) values (null);

-- Null: without end. Runs as the role that ends the run, which is the tenant's role for an upload.
create function retention_days(tenant uuid) returns integer language sql stable as $$
  select nullif(coalesce((select tenants.retention_days from tenants where tenant_id = tenant), days, 0), 0)
  from retention
$$;

-- Expiries are in a table of their own, because rows of `runs` are large and should change rarely.
create table expiring_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  expires_at timestamptz not null
);
create index expiring_runs_by_time on expiring_runs (expires_at);

create function set_expiry() returns trigger language plpgsql as $$
begin
  if new.finished_at is null or (tg_op = 'UPDATE' and old.finished_at is not null) then
    return new;
  end if;
  new.expires_at := coalesce(new.expires_at, new.finished_at + make_interval(days => retention_days(new.tenant_id)));
  if new.expires_at is not null then
    insert into expiring_runs (run_id, tenant_id, expires_at) values (new.run_id, new.tenant_id, new.expires_at);
  end if;
  return new;
end $$;

create trigger set_expiry before insert or update of finished_at on runs
  for each row execute function set_expiry();

-- Objects in storage without a row in `assets`. One is deleted after it was seen twice with enough time between.
create table orphaned_objects (
  storage_key text primary key,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);

-- Idempotent work that follows a committed change: cancel a job at its provider, delete files.
create table outbox (
  outbox_id uuid primary key,
  kind text not null,
  payload jsonb not null,
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);

create index outbox_due on outbox (due_at);

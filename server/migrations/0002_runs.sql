-- Runs. Ended runs are read by id or listed by tenant. Runs in progress also have a row in `open_runs`, so that no hot
-- query reads an ended run.
--
-- Ids are UUIDv7: they sort by time, so an id range is a time range, and new rows are at the end of each index. No
-- table is partitioned: a prepared plan locks every partition of its tables, so that each statement would take more
-- locks every day. There are no foreign keys between these tables, because one statement writes both sides.
--
-- A row of `runs` is updated at its start and its end, one of `attempts` with its ticket and its end, mostly while the
-- page is still being filled. The fill factor leaves space for the next update only, because each update frees the
-- space of an earlier version. Rows of `planned_requests` change in runs of several requests, rows of `assets` when
-- their run is deleted: their pages are full.
--
-- The tables of history grow without limit. With the default of 20 %, a table of a billion rows would be vacuumed and
-- analyzed every 200 million rows; so they have a scale factor of 2 %.
set local check_function_bodies = off;

create function uuid_floor(moment timestamptz) returns uuid language sql immutable strict as $$
  select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000')::uuid
  from (select lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') as hex) as digits
$$;

-- The milliseconds of a UUIDv7.
create function uuid_ms(id uuid) returns bigint language sql immutable strict as $$
  select ('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint
$$;

create function uuid_at_ms(ms bigint) returns uuid language sql immutable strict as $$
  select (lpad(to_hex(greatest(ms, 0)), 12, '0') || repeat('0', 20))::uuid
$$;

-- The day (UTC) of a UUIDv7.
create function uuid_day(id uuid) returns date language sql immutable strict as $$
  select (timestamp '1970-01-01' + make_interval(secs =>
    ('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))::date
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
  -- The input fields that the caller set; the others of `inputs` are defaults. Null for uploads.
  given_fields text[],
  -- Null unless the request was traced. As in the header `traceparent` of W3C Trace Context.
  traceparent text,
  -- The visitor of an app for whom an access token was issued. Null: the caller is no end user.
  end_user text,
  -- The schema that the input of the run was checked with. Null for operations of the interface.
  schema_hash text,
  check ((finished_at is not null) = (status in ('completed', 'failed', 'canceled'))),
  check ((result is not null) = (status = 'completed')),
  check ((error is not null) = (status in ('failed', 'canceled'))),
  check ((progress = 1) = (status = 'completed')),
  check (progress between 0 and 1),
  check (cost is null or status in ('completed', 'canceled')),
  check (parent_run_id is distinct from run_id),
  check ((parent_run_id is null) = (depth = 1)),
  check ((parent_run_id is null) = (root_run_id = run_id))
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table runs is
  'One row for each run, from its acceptance until it is archived. Statements of open work read open_runs instead.';

-- No index contains a column that changes, so that updates are heap-only (HOT). Runs by status are found through
-- `open_runs` or `unsuccessful_runs`.
create index runs_by_tenant on runs (tenant_id, run_id desc);

create index runs_by_parent on runs (parent_run_id, run_id) where parent_run_id is not null;
create index runs_by_root on runs (root_run_id, run_id) where parent_run_id is not null;
create index runs_by_end_user on runs (tenant_id, end_user, run_id desc) where end_user is not null;

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
comment on function enforce_run_state_machine is
  'Refuses changes of status that the state machine does not have, and changes of ended runs.';

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
comment on function enforce_run_tree is
  'Refuses a parent of another tenant, a wrong root or depth, and every later change of them.';

create trigger enforce_tree_position before insert on runs for each row
  when (new.parent_run_id is not null) execute function enforce_run_tree();

create trigger forbid_tree_moves before update on runs for each row
  when ((new.parent_run_id, new.root_run_id, new.depth) is distinct from
    (old.parent_run_id, old.root_run_id, old.depth))
  execute function enforce_run_tree();

-- A request that was admitted before the tenant was suspended creates no run after the deletion has begun.
create function refuse_run_of_deleted_tenant() returns trigger language plpgsql as $$
begin
  if exists (select from tenant_deletions where deleted_tenant_id = new.tenant_id) then
    raise exception 'tenant %: it is being deleted', new.tenant_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
comment on function refuse_run_of_deleted_tenant is
  'Refuses runs of tenants that are being deleted.';

create trigger refuse_run_of_deleted_tenant before insert on runs
  for each row execute function refuse_run_of_deleted_tenant();

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
comment on table open_runs is
  'The runs that have not ended: their queue, claim, deadline and reserve. The statement that deletes the row ends the run.';
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
comment on table open_requests is
  'The requests to providers of open runs that are in progress: ticket, wakeup, lease and slot.';
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
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table planned_requests is
  'One row for each provider request of a plan, with the selected offer. A request with an output is never submitted again.';

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
  state text not null check (state in ('intent', 'submitted', 'succeeded', 'failed', 'unknown')),
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
  -- What the provider charged for an attempt whose outcome was unknown, as an operator found out, in micro-dollars.
  settled_charge bigint,
  settled_at timestamptz,
  -- Bit n is set if the holder of lease n + 1 reported that it had written the request to a connection. Bits make a
  -- report idempotent, because the statement that reports is repeated after a lost response of PostgreSQL.
  sent_claims integer not null default 0,
  primary key (run_id, request_index, attempt_number)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table attempts is
  'Every submission of a request to a provider. The row is written before the request, and is its lease.';
comment on column attempts.send_count is
  'Number of leases of the attempt: 1, and one more for each take-over by another worker. Not the number of requests.';
comment on column attempts.sent_claims is
  'Bit n: the holder of lease n + 1 reported that bytes of the request were written. A worker that died reports nothing.';
create index attempts_unknown on attempts (run_id) where unknown_since is not null;

-- Runs whose images a run uses, other than its parent.
create table run_references (
  run_id uuid not null,
  source_run_id uuid not null,
  root_run_id uuid not null,
  primary key (run_id, source_run_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table run_references is
  'Runs that a run was made from, beside its parent.';
create index run_references_by_root on run_references (root_run_id);
create index run_references_by_source on run_references (source_run_id);

-- Runs whose inline images were stored before the run was accepted. A row that stays without its run marks images of a
-- request that never ended; a duty deletes them.
create table staged_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  staged_at timestamptz not null default now()
);
comment on table staged_runs is
  'Runs whose images inside the request were stored before the run was accepted.';
create index staged_runs_by_time on staged_runs (staged_at);

-- Without a foreign key, which would cost every run that ends a look-up: workers delete the rows of ended runs.
create table suspect_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  -- How often a worker died while it stored results of the run.
  deaths smallint not null,
  -- No worker stores results of the run until then: back-off, or the lease of the worker that stores them.
  held_until timestamptz not null
);
comment on table suspect_runs is
  'Runs that were being executed when their worker died, with the number of deaths.';

-- Index of failed and canceled runs.
create table unsuccessful_runs (
  tenant_id uuid not null,
  status text not null check (status in ('failed', 'canceled')),
  run_id uuid not null,
  primary key (tenant_id, status, run_id)
);
comment on table unsuccessful_runs is
  'Failed and canceled runs, for lists by these rare states.';

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
  -- Whose key it is: an API key with those that it replaced, a user, or an end user. The fingerprint of
  -- `client_requests` contains the same.
  caller_id uuid not null,
  primary key (tenant_id, key, caller_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02);
comment on table idempotency_keys is
  'Idempotency keys of creating requests with their fingerprint and the resource that they created.';
create index idempotency_keys_by_age on idempotency_keys (created_at);

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
comment on table client_requests is
  'Recent requests of clients that send no idempotency key, so that their repetitions are joined.';
create index client_requests_by_fingerprint on client_requests (tenant_id, fingerprint, request_id);
create index client_requests_by_age on client_requests (created_at);

-- Claims a concurrency slot of a provider if one is free and no request has waited for it longer. Requests ask in
-- intervals, so a free slot goes to one of the longest-waiting few instead of staying empty until the first asks again.
-- Requests that have not asked for 4 seconds are skipped. The count runs after the lock is acquired, so that no two
-- processes claim one slot.
create function claim_provider_slot(of_provider text, of_run uuid, of_epoch integer, of_request smallint, slots integer)
returns boolean language plpgsql as $$
declare
  candidates constant integer := 2;
  since timestamptz;
  free integer;
begin
  if exists (
    select from open_runs join open_requests using (run_id)
    where run_id = of_run and epoch = of_epoch and request_index = of_request and provider_slot = of_provider
  ) then
    return true;
  end if;
  perform pg_advisory_xact_lock(hashtext('provider-slot/' || of_provider));
  insert into open_requests (run_id, request_index, tenant_id, lane)
  select run_id, of_request, tenant_id, lane from open_runs where run_id = of_run and epoch = of_epoch
  on conflict do nothing;
  select case when slot_provider = of_provider then slot_wanted_since else clock_timestamp() end into since
  from open_runs join open_requests using (run_id)
  where run_id = of_run and epoch = of_epoch and request_index = of_request;
  if not found then
    return false;
  end if;
  free := slots - (select count(*) from open_requests where provider_slot = of_provider);
  if free > 0 and (
    select count(*) from open_requests where slot_provider = of_provider and slot_wanted_since < since
      and slot_last_asked_at > clock_timestamp() - interval '4 seconds'
  ) < free + candidates then
    update open_requests set provider_slot = of_provider, slot_provider = null, slot_wanted_since = null,
      slot_last_asked_at = null
    where run_id = of_run and request_index = of_request;
    return true;
  end if;
  update open_requests set slot_provider = of_provider, slot_wanted_since = since,
    slot_last_asked_at = clock_timestamp()
  where run_id = of_run and request_index = of_request;
  return false;
end $$;

-- The holder whose limit of open runs is reached, the nil UUID for the tenant; null if there may be one more. The lock
-- is held until the accepting statement commits, so that concurrent requests do not count the same free capacity. Runs
-- count where their key is in the tree now.
create function reached_open_run_limit(of_tenant uuid, tenant_most integer, holders uuid[], most integer[]) returns uuid
language plpgsql as $$
declare
  tenant_holder constant uuid := '00000000-0000-0000-0000-000000000000';
  left_of_tenant integer := tenant_most;
  left_of_key integer[] := most;
  open_of_key record;
begin
  perform pg_advisory_xact_lock(hashtextextended('open/' || of_tenant, 0));
  if cardinality(holders) = 0 then
    return (select case when count(*) >= tenant_most then tenant_holder end from open_runs where tenant_id = of_tenant);
  end if;
  for open_of_key in
    select key_holders(api_keys.key_id, holder_ids) as counted_by, runs
    from (select key_id, count(*) as runs from open_runs where tenant_id = of_tenant group by key_id) as by_key
    left join api_keys using (key_id)
  loop
    left_of_tenant := left_of_tenant - open_of_key.runs;
    for place in 1..cardinality(holders) loop
      if holders[place] = any(open_of_key.counted_by) then
        left_of_key[place] := left_of_key[place] - open_of_key.runs;
      end if;
    end loop;
  end loop;
  if left_of_tenant <= 0 then
    return tenant_holder;
  end if;
  for place in 1..cardinality(holders) loop
    if left_of_key[place] <= 0 then
      return holders[place];
    end if;
  end loop;
  return null;
end $$;

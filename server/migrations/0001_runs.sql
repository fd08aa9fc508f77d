-- Runs and everything that belongs to one. Finished work lives in tables that are partitioned by day and only ever
-- looked up by id or listed by tenant; work in progress lives in `open_runs`, which holds a row only while a run is open.
-- So no hot query ever meets a finished run.
--
-- Ids are UUIDv7: they sort by time, so a range of ids is a range of time and the id alone finds the partition.
-- There are no foreign keys between these tables: they would forbid dropping a day, and every write that matters already
-- goes through one statement that touches both sides.

create function uuid_floor(moment timestamptz) returns uuid language sql immutable strict as $$
  select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000')::uuid
  from (select lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') as hex) as digits
$$;

create table runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  user_id text not null,
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
  check (cost is null or status = 'completed'),
  check (parent_run_id is distinct from run_id)
) partition by range (run_id);

-- A row changes twice in its life, and no index holds a column that changes: so the change stays within its page. Runs of
-- one state are found through the open runs, or through the few that did not end well.
create index runs_by_tenant on runs (tenant_id, run_id desc);
create index runs_by_parent on runs (parent_run_id, run_id) where parent_run_id is not null;
create index runs_by_root on runs (root_run_id, run_id) where parent_run_id is not null;

create table ended_badly (
  tenant_id uuid not null,
  status text not null check (status in ('failed', 'canceled')),
  run_id uuid not null,
  primary key (tenant_id, status, run_id)
);

-- References between runs other than the parent: which pictures a run was made of.
create table run_references (
  run_id uuid not null,
  source_run_id uuid not null,
  root_run_id uuid not null,
  primary key (run_id, source_run_id)
) partition by range (run_id);

create index run_references_by_root on run_references (root_run_id);

-- The state machine, for whoever writes: a forbidden move is refused even by hand.
create function guard_run() returns trigger language plpgsql as $$
begin
  if new.run_id <> old.run_id or new.tenant_id <> old.tenant_id or new.created_at <> old.created_at then
    raise exception 'run %: identity never changes', old.run_id using errcode = 'check_violation';
  end if;
  if old.status in ('completed', 'failed', 'canceled') and
     (new.status, new.progress, new.result, new.error, new.cost, new.finished_at) is distinct from
     (old.status, old.progress, old.result, old.error, old.cost, old.finished_at) then
    raise exception 'run %: % is an end', old.run_id, old.status using errcode = 'check_violation';
  end if;
  if new.status <> old.status and not (
    (old.status = 'queued' and new.status in ('processing', 'failed', 'canceled')) or
    (old.status = 'processing' and new.status in ('completed', 'failed', 'canceled'))
  ) then
    raise exception 'run %: % to % is no transition', old.run_id, old.status, new.status using errcode = 'check_violation';
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

create trigger guard_run before update on runs for each row execute function guard_run();

-- What is under way, and nothing else. The row is the right to end its run: whoever deletes it ends it, once.
-- `epoch` fences engine invocations that have been given up on; `alive_until` is the promise of the current step to be
-- heard of again. It is scanned whole by one reconciler, so columns that every step writes carry no index.
create table open_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  shard smallint not null,
  epoch integer not null default 0,
  resends smallint not null default 0,
  dispatched_at timestamptz,
  started_at timestamptz,
  alive_until timestamptz,
  deadline_at timestamptz not null,
  cancel_requested_at timestamptz,
  wake_id text,
  provider text,
  job smallint,
  try smallint,
  ticket jsonb,
  submitted_at timestamptz,
  next_poll_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index open_runs_by_tenant on open_runs (tenant_id, run_id);
create index open_runs_waiting on open_runs (shard, run_id) where dispatched_at is null;
create index open_runs_to_poll on open_runs (provider, next_poll_at) where next_poll_at is not null;

-- A plan's jobs, as they were chosen and what they made. A job with `made` is never asked for again.
create table jobs (
  run_id uuid not null,
  job smallint not null,
  provider text not null,
  model text not null,
  upstream text not null,
  made jsonb,
  finished_at timestamptz,
  primary key (run_id, job)
) partition by range (run_id);

-- Every time money may have been spent. The row is written before the request and holds a lease while it is under way:
-- nobody else sends this job until the lease has run out and the doubt has been dealt with.
create table attempts (
  run_id uuid not null,
  job smallint not null,
  try smallint not null,
  key text not null,
  epoch integer not null,
  provider text not null,
  state text not null check (state in ('intent', 'submitted', 'succeeded', 'failed', 'unknown', 'abandoned')),
  sends smallint not null default 1,
  lease_until timestamptz,
  unknown_since timestamptz,
  ticket jsonb,
  fault jsonb,
  created_at timestamptz not null default now(),
  submitted_at timestamptz,
  finished_at timestamptz,
  primary key (run_id, job, try)
) partition by range (run_id);

-- Files that are ours. An asset's id carries the time of its run, so both share a day.
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
  created_at timestamptz not null default now(),
  deleted_at timestamptz
) partition by range (asset_id);

create index assets_by_run on assets (run_id);

create table events (
  run_id uuid not null,
  event_id uuid not null,
  tenant_id uuid not null,
  type text not null,
  data jsonb not null default '{}',
  terminal boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (run_id, event_id)
) partition by range (run_id);

create unique index events_one_end on events (run_id) where terminal;

create function make_partitions(first date, days integer) returns void language plpgsql as $$
declare
  parent text;
  day date;
begin
  foreach parent in array array['runs', 'jobs', 'attempts', 'assets', 'events', 'run_references'] loop
    for day in select generate_series(first, first + days - 1, interval '1 day')::date loop
      if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
        -- Room in each page for the changes that a row sees.
        execute format('create table %I partition of %I for values from (%L) to (%L) with (fillfactor = 70)',
          format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
          uuid_floor(day::timestamp at time zone 'UTC'), uuid_floor((day + 1)::timestamp at time zone 'UTC'));
      end if;
    end loop;
  end loop;
end $$;

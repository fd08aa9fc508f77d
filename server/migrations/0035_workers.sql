-- expand: operators see the workers and drain one of them

-- The workers that run, each by its own report. A worker that was killed stops reporting.
create table workers (
  worker_id uuid primary key,
  host text not null,
  version text not null,
  -- The URI of its deployment in the engine, with the build.
  url text not null,
  state text not null check (state in ('serving', 'draining', 'drained')),
  -- Runs that the engine executes on this worker now.
  runs integer not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
) with (fillfactor = 50);

alter table pauses drop constraint pauses_kind_check;
alter table pauses add constraint pauses_kind_check check (kind in ('provider', 'tenant', 'duty', 'worker')) not valid;
alter table pauses validate constraint pauses_kind_check;

-- expand: runs that were being stored when their worker died, so that one that kills its worker is found and stopped

-- Without a foreign key, which would cost every run that ends a look-up: workers delete the rows of ended runs.
create table suspect_runs (
  run_id uuid primary key,
  tenant_id uuid not null,
  -- How often a worker died while it stored results of the run.
  deaths smallint not null,
  -- No worker stores results of the run until then: back-off, or the lease of the worker that stores them.
  held_until timestamptz not null
);

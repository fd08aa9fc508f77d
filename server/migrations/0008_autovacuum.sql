-- The tables of history grow without limit. With the default of 20 %, a table of a billion rows would be vacuumed and
-- analyzed every 200 million rows.
do $$
declare
  name text;
begin
  foreach name in array array['runs', 'planned_requests', 'attempts', 'assets', 'run_references', 'transfers', 'events',
    'webhook_deliveries', 'webhook_attempts', 'webhook_secrets', 'idempotency_keys'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)', name);
  end loop;
end $$;

-- expand: pages of runs, attempts and files hold more rows. Only pages that are written from now on change.

-- A row of `runs` is updated at its start and its end, one of `attempts` with its ticket and its end, mostly while the
-- page is still being filled. The free space has to be enough for the next update only, because each update frees the
-- space of an earlier version. Rows of `assets` change when their run is deleted, rows of `planned_requests` in runs of
-- several requests.
alter table runs set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02);
alter table attempts set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02);
alter table assets set (fillfactor = 100);
alter table planned_requests set (fillfactor = 100);

-- expand: find attempts whose outcome is or was unknown without reading all attempts
create index concurrently attempts_unknown on attempts (run_id) where unknown_since is not null;

-- expand: lists the runs of an end user, however many runs the tenant has
create index concurrently runs_by_end_user on runs (tenant_id, end_user, run_id desc) where end_user is not null;

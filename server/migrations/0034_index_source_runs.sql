-- expand: finds the runs that reference a run without reading all references
create index concurrently run_references_by_source on run_references (source_run_id);

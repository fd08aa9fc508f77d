-- expand: find the runs of a customer
create index concurrently runs_by_customer on runs (tenant_id, customer, run_id desc) where customer is not null;

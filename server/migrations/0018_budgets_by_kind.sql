-- expand: find the limits of customers, end users and tags
create index concurrently attributed_budgets on budgets (tenant_id, of_kind, of_value) where of_kind is not null;

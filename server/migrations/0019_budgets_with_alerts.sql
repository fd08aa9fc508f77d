-- expand: find the spending limits that send alerts
create index concurrently budgets_with_alerts on budgets (tenant_id, holder_id) where alert_at is not null;

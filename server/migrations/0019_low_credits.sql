-- When a tenant that pays in advance is told that little is left: once for every payment.
alter table budgets
  add column low_at bigint,
  add column low_told_at timestamptz;
update budgets set low_at = available / 5 where is_prepaid;

-- Of what changes with every run nothing is in here: such changes stay cheap.
create index budgets_to_watch on budgets (tenant_id) where is_prepaid and low_told_at is null;

-- contract since 0041: an idempotency key belongs to its caller. Programs since 0041 run beside it: all their rows have
-- the same default, so for them this index is as narrow as the primary key.
create unique index concurrently idempotency_keys_by_caller on idempotency_keys (tenant_id, key, caller_id);

-- contract since 0046: an idempotency key belongs to its caller. The program since 0046 runs beside it: it writes the
-- same default for every caller, so for its rows this index is as narrow as the primary key.
create unique index concurrently idempotency_keys_by_caller on idempotency_keys (tenant_id, key, caller_id);

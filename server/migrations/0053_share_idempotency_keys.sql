-- expand: two callers of a tenant may use the same idempotency key; see `idempotency_keys_by_caller`
alter table idempotency_keys drop constraint idempotency_keys_pkey;

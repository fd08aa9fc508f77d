-- expand: finds the key that a key replaced, so that idempotency keys outlive a rotation
create index concurrently api_keys_by_replacement on api_keys (replaced_by) where replaced_by is not null;

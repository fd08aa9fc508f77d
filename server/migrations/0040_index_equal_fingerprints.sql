-- expand: the files with a fingerprint are found by it, and all fingerprints of a tenant are read from this index alone
create index concurrently assets_by_fingerprint on assets (tenant_id, fingerprint) where fingerprint is not null;

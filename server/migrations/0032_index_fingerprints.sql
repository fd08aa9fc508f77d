-- expand: the fingerprints of a tenant are compared without reading its other files
create index concurrently assets_with_fingerprint on assets (tenant_id) include (fingerprint) where fingerprint is not null;

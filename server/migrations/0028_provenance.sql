-- expand: how the outputs of a tenant say what made them

-- null: the installation's default. Otherwise `mode` (off, mark or sign) and `prompt` (whether manifests contain it).
alter table tenants add column provenance jsonb;

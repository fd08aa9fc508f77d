-- expand: an imported model can be limited to some tenants

-- The tenants that may use the name. Null: all of them.
alter table model_pins add column tenant_ids uuid[];

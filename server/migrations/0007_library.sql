-- The library: prompts with their versions, and custom models with their grants.

-- `prompts` has the current version of each prompt, so that a list reads one table; `prompt_versions` has every
-- version, including the current one. Primary keys begin with the tenant: an id alone finds nothing.
--
-- The folded columns are searched. The server folds them, because lower-casing in PostgreSQL depends on the locale of
-- the cluster.
create table prompts (
  tenant_id uuid not null,
  prompt_id uuid not null,
  name text not null,
  text text not null,
  model_type text,
  tags text[] not null default '{}',
  folded_name text not null,
  folded_text text not null,
  version integer not null default 1 check (version >= 1),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, prompt_id)
);

create table prompt_versions (
  tenant_id uuid not null,
  prompt_id uuid not null,
  version integer not null,
  user_id text not null,
  name text not null,
  text text not null,
  model_type text,
  tags text[] not null,
  created_at timestamptz not null,
  primary key (tenant_id, prompt_id, version),
  foreign key (tenant_id, prompt_id) references prompts on delete cascade
);

-- The owner of each LoRA name: the first user that registered it. The name stays with that owner after the models are
-- deleted, because the file stays. Names are stored in lower case without `.safetensors`, so that one file has one
-- name.
create table lora_names (
  lora_name text primary key,
  tenant_id uuid not null,
  owner text not null,
  created_at timestamptz not null default now()
);

-- A custom model belongs to the tenant that registered it. Other tenants and users see it by its visibility or by a
-- grant.
create table models (
  model_id uuid primary key,
  tenant_id uuid not null,
  owner text not null,
  name text not null,
  model_type text not null,
  deployment_id text not null check (deployment_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  lora_name text not null references lora_names,
  trigger_word text,
  description text,
  preview_image_url text,
  visibility text not null default 'private' check (visibility in ('private', 'tenant', 'public')),
  status text not null default 'active' check (status in ('active', 'disabled')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index models_by_tenant on models (tenant_id, model_id);
create index models_public on models (model_id) where visibility = 'public';
create index models_by_lora on models (lora_name);

-- A grant without a user is for the whole tenant. `owner_tenant_id` is the tenant of the model, so that row-level
-- security can show the grant to both tenants.
create table model_grants (
  grant_id uuid primary key,
  model_id uuid not null references models on delete cascade,
  owner_tenant_id uuid not null,
  tenant_id uuid not null,
  user_id text,
  created_at timestamptz not null default now(),
  unique nulls not distinct (model_id, tenant_id, user_id)
);
create index model_grants_by_tenant on model_grants (tenant_id, model_id);

create function set_grant_owner_tenant() returns trigger language plpgsql as $$
begin
  select tenant_id into new.owner_tenant_id from models where model_id = new.model_id;
  return new;
end $$;

create trigger set_grant_owner_tenant before insert on model_grants
  for each row execute function set_grant_owner_tenant();

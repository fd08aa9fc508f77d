-- Custom models and who may use them. A model belongs to the tenant that registered it, and may be seen from others: by its
-- visibility, or by a grant to a whole tenant or to one user of it.
--
-- `lora_names` says whose a LoRA is. A name belongs to whoever registered it first and stays theirs when their models are
-- gone, because the file behind it stays. It is kept without `.safetensors` and in small letters: two ways of writing one
-- file must not be two names.
create table lora_names (
  lora_name text primary key,
  tenant_id uuid not null,
  owner text not null,
  created_at timestamptz not null default now()
);

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
create index models_of_tenant on models (tenant_id, model_id);
create index models_for_all on models (model_id) where visibility = 'public';
create index models_by_lora on models (lora_name);

-- Without a user it is the whole tenant's.
create table model_grants (
  grant_id uuid primary key,
  model_id uuid not null references models on delete cascade,
  tenant_id uuid not null,
  user_id text,
  created_at timestamptz not null default now(),
  unique nulls not distinct (model_id, tenant_id, user_id)
);
create index model_grants_to on model_grants (tenant_id, model_id);

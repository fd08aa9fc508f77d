-- The library: prompts with their versions, custom models with their grants, models of
-- providers, and the stars and tags of runs.
set local check_function_bodies = off;

create function mark_terms(is_starred boolean, of_tags text[]) returns text[] language sql immutable as $$
  select case when is_starred then array['starred'] else '{}'::text[] end
    || array(select 'tag:' || tag from unnest(of_tags) as tag)
$$;

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
comment on table prompts is
  'Prompts in the library of a tenant, in their newest version.';

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
comment on table prompt_versions is
  'All versions of the prompts.';

-- The owner of each LoRA name: the first user that registered it. The name stays with that owner after the models are
-- deleted, because the file stays. Names are stored in lower case without `.safetensors`, so that one file has one
-- name.
create table lora_names (
  lora_name text primary key,
  tenant_id uuid not null,
  owner text not null,
  created_at timestamptz not null default now()
);
comment on table lora_names is
  'The owner of each LoRA name: the first user that registered it. The name stays with that owner, because the file stays.';

-- Registering a name that exists updates it to itself, to lock and read the row. No column may change.
create function forbid_lora_name_changes() returns trigger language plpgsql as $$
begin
  raise exception 'a LoRA name keeps its owner' using errcode = 'insufficient_privilege';
end $$;
comment on function forbid_lora_name_changes is
  'Refuses changes of the name of a LoRA and of its owner.';

create trigger forbid_lora_name_changes before update on lora_names for each row
  when (old.* is distinct from new.* and current_user in ('gesso_app', 'gesso_end_user'))
  execute function forbid_lora_name_changes();

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
comment on table models is
  'Custom models of tenants.';
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
comment on table model_grants is
  'Who else may use a custom model.';
create index model_grants_by_tenant on model_grants (tenant_id, model_id);

create function set_grant_owner_tenant() returns trigger language plpgsql as $$
begin
  select tenant_id into new.owner_tenant_id from models where model_id = new.model_id;
  return new;
end $$;
comment on function set_grant_owner_tenant is
  'Sets the tenant that owns the granted model.';

create trigger set_grant_owner_tenant before insert on model_grants
  for each row execute function set_grant_owner_tenant();

create table imported_models (
  model text not null,
  hash text not null,
  provider text not null,
  title text,
  category text,
  -- The kinds of files that a result has, such as video and audio.
  media text[] not null,
  document jsonb not null,
  imported_at timestamptz not null default now(),
  imported_by text not null,
  primary key (model, hash)
);
comment on table imported_models is
  'What providers publish about their models, as it was imported: the schemas of input and result, and where files are '
  'in them. A model whose schema changed gets another row; texts and the version that runs use can change.';

create table model_pins (
  name text primary key,
  model text not null,
  hash text not null,
  -- What a call costs, as the operator says, in micro-dollars. Null: unknown.
  call_price bigint check (call_price >= 0),
  pinned_at timestamptz not null default now(),
  foreign key (model, hash) references imported_models (model, hash)
);
comment on table model_pins is
  'Which schema a name stands for. A name is that of a model, such as fal:fal-ai/veo3.1/fast, or an alias of the '
  'operator.';
create index model_pins_by_model on model_pins (model, hash);

-- Apart from `runs`, whose rows are large and should change rarely.
create table run_marks (
  run_id uuid primary key,
  tenant_id uuid not null,
  starred boolean not null default false,
  tags text[] not null default '{}',
  updated_at timestamptz not null default now()
) with (fillfactor = 80);
comment on table run_marks is
  'Stars and tags that users put on runs.';

-- The form in which the LoRA name of a deleted tenant stays reserved. The separator is no part of any name.
create function lora_digest(name text) returns text language sql immutable as $$
  select 'sha256:' || encode(sha256(convert_to(name, 'UTF8')), 'hex')
$$;

create function remove_run_marks() returns trigger language plpgsql as $$
begin
  delete from run_marks where run_id = new.run_id;
  return null;
end $$;
comment on function remove_run_marks is
  'Removes stars and tags of a deleted run.';

create trigger remove_run_marks after update of deleted_at on runs for each row
  when (old.deleted_at is null and new.deleted_at is not null)
  execute function remove_run_marks();

-- The prompt library. `prompts` holds each prompt as it stands, so that a list reads one table; `prompt_versions` holds
-- every state it ever had, the present one too. Keys begin with the tenant: no id alone finds anything.
--
-- The folded columns are what is searched. They are folded by the server, because what PostgreSQL takes for a lower-case
-- letter depends on the locale that the operator's cluster was made with.
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

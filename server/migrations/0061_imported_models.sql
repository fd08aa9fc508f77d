-- expand: models that only their provider's schema describes

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

-- The schema that the input of the run was checked with. Null for operations of the interface.
alter table runs add column schema_hash text;

-- Models belong to the installation. Every caller may read them.
grant select on imported_models, model_pins to gesso_app;

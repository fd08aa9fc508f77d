-- expand: stars and tags of runs

-- Apart from `runs`, whose rows are large and should change rarely.
create table run_marks (
  run_id uuid primary key,
  tenant_id uuid not null,
  starred boolean not null default false,
  tags text[] not null default '{}',
  updated_at timestamptz not null default now()
) with (fillfactor = 80);

create function mark_terms(is_starred boolean, of_tags text[]) returns text[] language sql immutable as $$
  select case when is_starred then array['starred'] else '{}'::text[] end
    || array(select 'tag:' || tag from unnest(of_tags) as tag)
$$;

-- Stars and tags are terms of the run. The trigger has the row as it was changed, so concurrent changes leave no term
-- behind.
create function index_run_marks() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from run_terms
    where tenant_id = old.tenant_id and term = any (mark_terms(old.starred, old.tags)) and run_id = old.run_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into run_terms (tenant_id, term, run_id)
    select new.tenant_id, term, new.run_id from unnest(mark_terms(new.starred, new.tags)) as term
    on conflict do nothing;
  end if;
  return null;
end $$;

create trigger index_run_marks after insert or update or delete on run_marks
  for each row execute function index_run_marks();

create function remove_run_marks() returns trigger language plpgsql as $$
begin
  delete from run_marks where run_id = new.run_id;
  return null;
end $$;

create trigger remove_run_marks after update of deleted_at on runs for each row
  when (old.deleted_at is null and new.deleted_at is not null)
  execute function remove_run_marks();

-- Runs form trees, whoever writes. A parent is there before its child, one level above it, in the same tree and of the
-- same tenant; and a run never changes its place. Depth grows along every edge, so no run can be its own ancestor.
alter table runs
  add check ((parent_run_id is null) = (depth = 1)),
  add check ((parent_run_id is null) = (root_run_id = run_id));

create function guard_tree() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'run %: its place in the tree never changes', old.run_id using errcode = 'check_violation';
  end if;
  if not exists (
    select from runs where run_id = new.parent_run_id and tenant_id = new.tenant_id
      and root_run_id = new.root_run_id and depth = new.depth - 1
  ) then
    raise exception 'run %: its parent is not one level above it', new.run_id using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger guard_place before insert on runs for each row
  when (new.parent_run_id is not null) execute function guard_tree();

create trigger guard_moves before update on runs for each row
  when ((new.parent_run_id, new.root_run_id, new.depth) is distinct from (old.parent_run_id, old.root_run_id, old.depth))
  execute function guard_tree();

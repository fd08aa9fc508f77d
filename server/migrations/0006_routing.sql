-- Who is asked for a job, and how much of a provider may be used at a time: figures that all processes share.

alter table attempts add column upstream text;
-- What was really sent, without secrets and without pictures: the answer to "why does it look like this?".
alter table attempts add column request jsonb;

-- Which provider's place a run takes up, where that provider has only so many; and since when its provider cannot be reached.
alter table open_runs add column occupies text;
alter table open_runs add column silent_since timestamptz;
create index open_runs_occupying on open_runs (occupies) where occupies is not null;

-- Offers that failed lately. No row means healthy: success costs nothing to note.
create table offer_health (
  provider text not null,
  upstream text not null,
  failures integer not null default 0,
  openings integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  changed_at timestamptz not null default now(),
  primary key (provider, upstream)
);

create table provider_pace (
  provider text primary key,
  tokens double precision not null,
  filled_at timestamptz not null default clock_timestamp()
);

-- A place at a provider, if one is free. The count is taken behind a lock, by a statement that begins after the lock is
-- held, so that no two processes count the same free place.
create function take_place(of_provider text, of_run uuid, of_epoch integer, places integer) returns boolean
language plpgsql as $$
begin
  if exists (select from open_runs where run_id = of_run and epoch = of_epoch and occupies = of_provider) then
    return true;
  end if;
  perform pg_advisory_xact_lock(hashtext('place/' || of_provider));
  if (select count(*) from open_runs where occupies = of_provider) >= places then
    return false;
  end if;
  update open_runs set occupies = of_provider where run_id = of_run and epoch = of_epoch;
  return true;
end $$;

-- Zero when a request may leave now, otherwise the seconds until one may. A tenth of a minute's worth may leave at once.
create function take_turn(of_provider text, per_minute double precision) returns double precision
language plpgsql as $$
declare
  most double precision := greatest(1, per_minute / 10);
  have double precision;
begin
  insert into provider_pace (provider, tokens) values (of_provider, most) on conflict do nothing;
  select least(most, tokens + extract(epoch from clock_timestamp() - filled_at) * per_minute / 60) into have
  from provider_pace where provider = of_provider for update;
  if have < 1 then
    return (1 - have) * 60 / per_minute;
  end if;
  update provider_pace set tokens = have - 1, filled_at = clock_timestamp() where provider = of_provider;
  return 0;
end $$;

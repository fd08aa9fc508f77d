-- What the dispatcher goes by, and the buckets that rate limits are counted in.

-- `lane` is the provider that the run was meant for when it was accepted: what waits for one provider never stands in the
-- way of what waits for another. `doing` is where a run stands once it was handed over: `work` while we work on it, `gate`
-- while its provider takes no more, `vendor` while only the provider is busy with it, which costs us nothing.
alter table open_runs
  add column lane text not null default '',
  add column doing text check (doing in ('work', 'gate', 'vendor')),
  add column key_id uuid;

update open_runs set doing = case when next_poll_at is null then 'work' else 'vendor' end where dispatched_at is not null;

-- One dispatcher decides for all tenants, so that their shares hold against each other; there are no shards any more.
drop index open_runs_waiting;
alter table open_runs drop column shard;
create index open_runs_waiting on open_runs (tenant_id, lane, run_id) where dispatched_at is null;
create index open_runs_busy on open_runs (doing, lane) where doing <> 'vendor';

-- How fast the queue of a tenant moves, for those who ask when their turn will come.
create table queue_pace (
  tenant_id uuid primary key,
  per_second double precision not null,
  noted_at timestamptz not null default now()
);

-- What is left in each bucket. Losing them in a crash only fills them up, so they need no log.
create unlogged table buckets (
  bucket text primary key,
  tokens double precision not null,
  filled_at timestamptz not null
) with (fillfactor = 50);

create index buckets_by_age on buckets (filled_at);

-- Takes up to `want` whole tokens out of a bucket that holds `most` and gains `per_second`, after `back` were returned.
create function take_tokens(of_bucket text, most double precision, per_second double precision, want integer, back integer,
  out granted integer, out remaining double precision) language plpgsql as $$
begin
  insert into buckets (bucket, tokens, filled_at) values (of_bucket, most, clock_timestamp()) on conflict do nothing;
  select least(most, tokens + back + extract(epoch from clock_timestamp() - filled_at) * per_second) into remaining
  from buckets where bucket = of_bucket for update;
  granted := greatest(0, least(want, floor(remaining)));
  remaining := remaining - granted;
  update buckets set tokens = remaining, filled_at = clock_timestamp() where bucket = of_bucket;
end $$;

-- Whether a tenant, and the key that asks, may have one more open run. Counted behind a lock that is held until the run is in, so that runs that
-- come at the same moment do not all see the same free place.
create function may_open(of_tenant uuid, most integer, of_key uuid, most_of_key integer) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('open/' || of_tenant, 0));
  return (select (most is null or count(*) < most) and
      (most_of_key is null or count(*) filter (where key_id = of_key) < most_of_key)
    from open_runs where tenant_id = of_tenant);
end $$;

-- expand: a bucket counts all the time that passes. Before, the time between two readings of the clock in one statement
-- was lost, which is much on a busy machine.

create or replace function take_tokens(of_bucket text, most double precision, per_second double precision,
  want integer, back integer, out granted integer, out remaining double precision) language plpgsql as $$
declare
  counted_from timestamptz;
  counted_until timestamptz;
begin
  insert into token_buckets (bucket, tokens, filled_at) values (of_bucket, most, clock_timestamp())
  on conflict do nothing;
  select tokens, filled_at into remaining, counted_from from token_buckets where bucket = of_bucket for update;
  -- After the lock: while this statement waited for it, another one has counted.
  counted_until := clock_timestamp();
  remaining := least(most, remaining + back + extract(epoch from counted_until - counted_from) * per_second);
  granted := greatest(0, least(want, floor(remaining)));
  remaining := remaining - granted;
  update token_buckets set tokens = remaining, filled_at = counted_until where bucket = of_bucket;
end $$;

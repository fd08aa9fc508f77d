-- expand: a bucket whose time lies in the future, because the clock was set back, counts from now. Before, it granted
-- nothing until the clock had reached that time again.

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
  remaining := least(most,
    remaining + back + greatest(0, extract(epoch from counted_until - counted_from)) * per_second);
  granted := greatest(0, least(want, floor(remaining)));
  remaining := remaining - granted;
  update token_buckets set tokens = remaining, filled_at = counted_until where bucket = of_bucket;
end $$;

-- Returns 0 if a request may be sent now, otherwise the seconds until then. The bucket holds a tenth of a minute's
-- requests.
create or replace function take_rate_limit_token(of_provider text, per_minute double precision)
returns double precision language plpgsql as $$
declare
  most double precision := greatest(1, per_minute / 10);
  have double precision;
begin
  insert into provider_rate_limits (provider, tokens) values (of_provider, most) on conflict do nothing;
  update provider_rate_limits set filled_at = clock_timestamp()
  where provider = of_provider and filled_at > clock_timestamp() + interval '1 second';
  select least(most, tokens + greatest(0, extract(epoch from clock_timestamp() - filled_at)) * per_minute / 60)
  into have from provider_rate_limits where provider = of_provider for update;
  if have < 1 then
    return (1 - have) * 60 / per_minute;
  end if;
  update provider_rate_limits set tokens = have - 1, filled_at = clock_timestamp() where provider = of_provider;
  return 0;
end $$;

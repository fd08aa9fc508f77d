// A history of completed runs for the gallery, inserted straight into the database. They share the files of a few real
// runs, so that every tile has an image with its thumbnails.
import type { Run } from "@gesso/client";
import type { ConsoleBrowser } from "./console-browser.ts";

const SHAPES = [
  { prompt: "a lighthouse at dusk", width: 1152, height: 768 },
  { prompt: "a red fox in the snow", width: 768, height: 960 },
  { prompt: "a sailing boat at sunrise", width: 1344, height: 768 },
  { prompt: "a planet with rings", width: 1024, height: 1024 },
];

/** One real run of each shape. */
export async function makeImages({ client }: ConsoleBrowser): Promise<Run[]> {
  return Promise.all(SHAPES.map((input) => client.images.generate(input).wait()));
}

/** $1: the template runs, $2: how many, $3: days that they cover. The newest is a minute older than now. */
const INSERT_RUNS = `with numbers as (
    select n, now() - interval '1 minute' - n * (make_interval(days => $3::int) / $2::int) as at, ($1::uuid[])[1 + n % cardinality($1::uuid[])] as like_run
    from generate_series(0, $2::int - 1) as n
  ), made as (
    select numbers.n, numbers.at, runs.*,
      (left(uuid_floor(numbers.at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as new_id
    from numbers join runs on runs.run_id = numbers.like_run
  ), inserted as (
    insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, root_run_id, depth, inputs,
      given_fields, plan, model, provider, result, cost, created_at, started_at, finished_at)
    select new_id, tenant_id, user_id, operation, run_type, 'completed', 1, new_id, 1,
      inputs || jsonb_build_object('prompt', (inputs ->> 'prompt') || ', number ' || n), given_fields, '[]', model,
      provider, result, '{"amount": 0.04, "currency": "USD"}', at, at, at
    from made order by n desc
    returning tenant_id, created_at
  )
  insert into run_counts as counts (tenant_id, term, month, runs)
  select tenant_id, term_hash(tenant_id, term), date_trunc('month', created_at at time zone 'UTC')::date, count(*)
  from inserted, unnest(array['', 'status:completed']) as term group by 1, 2, 3
  on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs`;

export async function insertPastImages(
  { environment }: ConsoleBrowser,
  templates: readonly Run[],
  { count, days }: { count: number; days: number },
): Promise<void> {
  const ids = templates.map(({ run_id }) => run_id);
  await environment.query(INSERT_RUNS, [ids, count, days]);
}

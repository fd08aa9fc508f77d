// A tenant with many runs, inserted by SQL together with their index: one run a minute up to now. A tenth of the runs
// are roots with three children; one tree has 500 runs. Words, models and errors are rare and common ones.
import type pg from "pg";
import { runPeriods } from "../support/run-periods.ts";

/** The words of run `n`, from one that half of the runs have to one that no other run has. */
const WORDS = `array[
    case when n % 2 = 0 then 'portrait' else 'landscape' end, 'mood' || n % 100, 'noun' || n % 5000, 'unique' || n,
    'filler' || n * 7 % 1000, 'filler' || n * 11 % 1000, 'filler' || n * 13 % 1000, 'filler' || n * 17 % 1000,
    'colour' || n % 30, 'light' || n % 12, 'lens' || n % 8, 'place' || n % 400]`;

const BIG_TREE_RUNS = 500;

/** Runs of the big tree are the middle ones. `group_start` is the number of the root. */
const PAST_RUNS = `create temporary table past_runs as
  select n, (left(uuid_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as run_id, at,
    array(select distinct unnest(${WORDS})) as words,
    case when n > $1 / 2 and n < $1 / 2 + ${BIG_TREE_RUNS} then $1 / 2
      when n % 10 in (1, 2, 3) then n - n % 10 else n end as group_start,
    case when n % 100000 = 77 then 'rare-model'
      else (array['flux-dev', 'sdxl', 'gemini-2.5', 'flux-kontext'])[1 + n % 4] end as model,
    (array['fal', 'bfl', 'openai'])[1 + n % 3] as provider,
    'user' || n % 50 as user_id,
    case when n % 20 = 5 then 'failed' when n % 50 = 2 then 'canceled' else 'completed' end as status,
    case when n % 20 = 5 then (array['provider_error', 'run_timeout', 'content_refused'])[1 + n % 3]
      when n % 50 = 2 then 'canceled_by_user' end as error_code
  from (select n, now() - make_interval(mins => $1 - n) as at from generate_series(0, $1::int - 1) as n) as numbers`;

/** $1: the tenant, $2: a key of half of the runs. */
const INSERTS = [
  `insert into runs (run_id, tenant_id, user_id, key_id, operation, run_type, status, progress, parent_run_id,
     root_run_id, depth, inputs, given_fields, plan, model, provider, result, error, cost, created_at, started_at,
     finished_at)
   select past_runs.run_id, $1::uuid, past_runs.user_id, case when past_runs.n % 2 = 0 then $2::uuid end, 'images.generate',
     'image-generation', past_runs.status, case when past_runs.status = 'completed' then 1 else 0 end,
     case when roots.n < past_runs.n then roots.run_id end, roots.run_id,
     case when roots.n < past_runs.n then 2 else 1 end,
     jsonb_build_object('prompt', array_to_string(past_runs.words, ' '), 'width', 1024, 'height', 1024), '{prompt}',
     jsonb_build_array(jsonb_build_object('task', 'image.generate', 'model', past_runs.model,
       'prompt', array_to_string(past_runs.words, ' '))),
     past_runs.model, past_runs.provider,
     case when past_runs.status = 'completed' then jsonb_build_object('outputs', jsonb_build_array(jsonb_build_object(
       'asset_id', past_runs.run_id, 'media_type', 'image/png', 'width', 1024, 'height', 1024, 'size_bytes', 1500000,
       'sha256', repeat('0', 64), 'role', 'result'))) end,
     case when past_runs.error_code is not null then jsonb_build_object('code', past_runs.error_code,
       'message', 'x', 'details', '{}'::jsonb) end,
     case when past_runs.status = 'completed' then '{"amount": 0.04, "currency": "USD"}'::jsonb end,
     past_runs.at, past_runs.at, past_runs.at
   from past_runs join past_runs as roots on roots.n = past_runs.group_start order by past_runs.n`,
  `insert into unsuccessful_runs (tenant_id, status, run_id)
   select $1::uuid, status, run_id from past_runs where status <> 'completed' and $2::uuid is not null`,
  `insert into attempts (run_id, request_index, attempt_number, idempotency_key, epoch, provider, state, price,
     created_at)
   select run_id, 0, 1, run_id::text, 1, provider, case when status = 'completed' then 'succeeded' else 'failed' end,
     40000, at from past_runs where $1::uuid is not null and $2::uuid is not null order by n`,
  `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount, created_at)
   select run_id, kind, $1::uuid, from_account, to_account, 40000, at from past_runs, (values
     ('reserve', 'credit', 'reserved'), ('settle', 'reserved', 'spent'), ('release', 'reserved', 'credit')
   ) as kinds (kind, from_account, to_account)
   where $2::uuid is not null and kind <> case when status = 'completed' then 'release' else 'settle' end
   order by run_id`,
  `create temporary table past_terms as
   select run_id, date_trunc('month', at at time zone 'UTC')::date as month,
     array(select 'word:' || word from unnest(words) as word)
       || array['type:image-generation', 'model:' || model, 'provider:' || provider, 'user:' || user_id,
         'status:' || status]
       || case when error_code is not null then array['error:' || error_code] else '{}' end
       || case when n % 2 = 0 then array['key:' || '{key_id}'] else '{}' end
       || case when group_start = n then array['root'] else '{}' end as terms
   from past_runs`,
  `insert into run_index (run_id, tenant_id, is_open, terms)
   select run_id, $1::uuid, false, term_hashes($1::uuid, terms) || ${runPeriods("$1::uuid", "run_id")}
   from past_terms where $2::uuid is not null order by run_id`,
  `insert into run_counts (tenant_id, term, month, runs)
   select $1::uuid, term_hash($1::uuid, term), month, count(*) from past_terms, unnest(terms || array['']) as term
   where term not like 'word:%' and $2::uuid is not null group by term, month`,
];

export type ManyRuns = { tenantId: string; keyId: string; count: number };

/** The root of the big tree, and a thousand runs of all times. */
export type InsertedRuns = { bigTree: string; someRuns: string[] };

/** `client` is connected as a superuser. */
export async function insertManyRuns(client: pg.Client, { tenantId, keyId, count }: ManyRuns): Promise<InsertedRuns> {
  // Triggers would check each row; what is inserted here is consistent.
  await client.query("set session_replication_role = replica; set work_mem = '256MB'");
  await client.query(PAST_RUNS, [count]);
  await client.query("create index on past_runs (n); analyze past_runs");
  for (const text of INSERTS) {
    const isTable = text.startsWith("create");
    await client.query(text.replace("{key_id}", keyId), isTable ? [] : [tenantId, keyId]);
  }
  await client.query("set session_replication_role = origin");
  await client.query(
    `insert into run_marks (run_id, tenant_id, starred, tags)
     select run_id, $1::uuid, true, case when n % 10000 = 0 then array['campaign'] else '{}' end from past_runs
     where n % 1000 = 0`,
    [tenantId],
  );
  await client.query("update run_index_position set xact = 0, seq = 0, backfill_before = null");
  await client.query(
    "vacuum (analyze) runs, run_index, unsuccessful_runs, run_counts, run_marks, marked_runs, attempts, transfers",
  );
  const { rows } = await client.query<{ run_id: string }>(
    "select run_id from past_runs where n = $1::int / 2 or n % ($1::int / 1000) = 0 order by n = $1::int / 2 desc",
    [count],
  );
  const [bigTree, ...someRuns] = rows.map(({ run_id }) => run_id);
  return { bigTree: bigTree!, someRuns };
}

// Inserts finished runs by SQL, as copies of runs that the service has executed: the same columns and sizes in every
// table that a finished run leaves rows in. Rows that the service removes after 30 days are left out for older runs.
import type pg from "pg";
import { runPeriods } from "../support/run-periods.ts";

/** Runs of one statement, a multiple of the size of a tree. */
const CHUNK_RUNS = 100_000;
/** Rows of one run in each table, and how the columns of a copy differ from those of the original. */
type CopiedTable = { key: string; where?: string; columns: Record<string, string> };

const IS_RECENT = "past.at > now() - interval '30 days'";
const TEN_RUNS_START = "past.n - past.n % 10";

/** `original` is the row of a run that the service has executed. Slim copies are a third as large. */
const copiedTables = (isSlim: boolean): Record<string, CopiedTable> => ({
  runs: {
    key: "run_id",
    columns: {
      ...{ run_id: "past.run_id", tenant_id: "past.tenant_id", user_id: "past.user_id", key_id: "past.key_id" },
      ...{ run_type: "past.run_type", status: "past.status", model: "past.model" },
      parent_run_id: "case when past.root_run_id <> past.run_id then past.root_run_id end",
      root_run_id: "past.root_run_id",
      depth: "case when past.root_run_id <> past.run_id then 2 else 1 end",
      ...(isSlim
        ? { inputs: "jsonb_build_object('prompt', past.prompt)", plan: "'[]'", result: slimResult }
        : {
            inputs: "jsonb_set(original.inputs, '{prompt}', to_jsonb(past.prompt))",
            // The plan of the original that completed has no jobs, and stays so.
            plan: "jsonb_set(original.plan, '{0,prompt}', to_jsonb(past.prompt))",
          }),
      error:
        "case when past.status <> 'completed' then jsonb_set(original.error, '{code}', to_jsonb(past.error_code)) end",
      cost: `case when past.status = 'completed' then '{"amount": 0.04, "currency": "USD"}'::jsonb end`,
      ...{ created_at: "past.at", updated_at: "past.at", started_at: "past.at", finished_at: "past.at" },
      ...{ expires_at: "past.at + interval '30 days'", last_event_xact: "1" },
    },
  },
  planned_requests: { key: "run_id", columns: { run_id: "past.run_id" } },
  attempts: {
    key: "run_id",
    columns: {
      ...{ run_id: "past.run_id", idempotency_key: "past.run_id || '.0.1'", price: "40000" },
      ...{ created_at: "past.at", submitted_at: "past.at", finished_at: "past.at" },
      request: isSlim ? "null" : "jsonb_set(original.request, '{body,prompt}', to_jsonb(past.prompt))",
    },
  },
  assets: {
    key: "run_id",
    ...(isSlim && { where: "original.role <> 'thumbnail'" }),
    columns: {
      asset_id: "(left(past.run_id::text, 15) || substr(gen_random_uuid()::text, 16))::uuid",
      ...{ run_id: "past.run_id", tenant_id: "past.tenant_id", created_at: "past.at" },
      storage_key: "replace(original.storage_key, original.run_id::text, past.run_id::text)",
      deleted_at: `case when not ${IS_RECENT} then past.at + interval '30 days' end`,
    },
  },
  // Before every event of the service, so that its readers have read them.
  events: {
    key: "run_id",
    where: IS_RECENT,
    columns: {
      ...{ run_id: "past.run_id", tenant_id: "past.tenant_id", created_at: "past.at", xact: "1" },
      ...{ event_id: "gen_random_uuid()", seq: "nextval('event_numbers')" },
      type: "case when original.terminal then 'run.' || past.status else original.type end",
    },
  },
});

const slimResult = "case when past.status = 'completed' then '{\"outputs\": []}'::jsonb end";

async function copySql(client: pg.Client, table: string, { key, where, columns }: CopiedTable): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
       and attgenerated = ''`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  return `insert into ${table} (${names.join(", ")})
    select ${names.map((name) => columns[name] ?? `original.${name}`).join(", ")}
    from past join ${table} as original
      on original.${key} = case when past.status = 'completed' then $1::uuid else $2::uuid end
    where $2::uuid is not null ${where ? `and ${where}` : ""} order by past.n`;
}

const fieldTerms = (isSlim: boolean) => `array['type:' || run_type, 'model:' || model, 'status:' || status]
  || case when error_code is not null then array['error:' || error_code] else '{}' end
  || case when key_id is not null then array['key:' || key_id] else '{}' end
  ${isSlim ? "" : "|| array['provider:' || provider, 'user:' || user_id]"}
  ${isSlim ? "" : "|| case when root_run_id = run_id then array['root'] else '{}' end"}`;

/** Tables whose rows have nothing to copy. */
const otherInserts = (isSlim: boolean) => [
  `insert into unsuccessful_runs (tenant_id, status, run_id)
   select tenant_id, status, run_id from past where status <> 'completed' order by n`,
  `insert into expiring_runs (run_id, tenant_id, expires_at)
   select run_id, tenant_id, at + interval '30 days' from past where ${IS_RECENT} order by n`,
  `insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount, created_at)
   select run_id, kind, tenant_id, from_account, to_account, 40000, at from past, (values
     ('reserve', 'credit', 'reserved'), ('settle', 'reserved', 'spent'), ('release', 'reserved', 'credit')
   ) as kinds (kind, from_account, to_account)
   where kind <> case when status = 'completed' then 'release' else 'settle' end order by n`,
  `create temporary table past_terms on commit drop as
   select run_id, tenant_id, date_trunc('month', at at time zone 'UTC')::date as month,
     array(select distinct 'word:' || word from unnest(string_to_array(prompt, ' ')) as word) || ${fieldTerms(isSlim)} as terms
   from past`,
  `insert into run_index (run_id, tenant_id, is_open, terms)
   select run_id, tenant_id, false, term_hashes(tenant_id, terms) || ${runPeriods("tenant_id", "run_id")}
   from past_terms order by run_id`,
  `insert into run_counts as counts (tenant_id, term, month, runs)
   select tenant_id, term_hash(tenant_id, term), month, count(*) from past_terms, unnest(terms || array['']) as term
   where term not like 'word:%' group by tenant_id, term, month
   on conflict (tenant_id, term, month) do update set runs = counts.runs + excluded.runs`,
];

/** From a word that half of the runs have to one that no other run has. Slim copies have the first two. */
const WORDS = `concat_ws(' ', case when n % 2 = 0 then 'portrait' else 'landscape' end, 'noun' || n % 5000`;
const MORE_WORDS = `, 'unique' || n, 'mood' || n % 100, 'filler' || n * 7 % 1000, 'filler' || n * 11 % 1000, 'filler' || n * 13 % 1000,
   'filler' || n * 17 % 1000, 'colour' || n % 30, 'light' || n % 12, 'lens' || n % 8, 'place' || n % 400`;

/** Ten runs are a tree of four and six trees of one, and belong to one tenant: every second one to the measured one. */
const pastRunsSql = (isSlim: boolean) => `create temporary table past on commit drop as
  with given as (
    select n, at, (left(uuid_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as run_id
    from (
      select n::bigint as n, now() - make_interval(secs => $4::float * 86400 * ($2::float - n) / $2::float) as at
      from generate_series($1::int, least($1::int + $3::int, $2::int) - 1) as n
    ) as numbers
  )
  select past.n, past.at, past.run_id,
    case when past.n % 10 in (1, 2, 3) then roots.run_id else past.run_id end as root_run_id,
    case when past.n / 10 % 2 = 0 then $5::uuid
      else ('00000000-0000-7000-8000-0000000001' || lpad((past.n / 10 % 10)::text, 2, '0'))::uuid end as tenant_id,
    case when past.n / 10 % 2 = 0 and past.n % 3 = 0 then $6::uuid end as key_id,
    'user' || past.n % 50 as user_id, ${WORDS.replaceAll(/\bn\b/g, "past.n")}${isSlim ? "" : MORE_WORDS.replaceAll(/\bn\b/g, "past.n")}) as prompt,
    case when past.n % 20011 = 0 then 'image-upscaling' else 'image-generation' end as run_type,
    case when past.n % 100000 = 60 then 'rare-model'
      else (array['flux-dev', 'sdxl', 'gemini-2.5', 'flux-kontext'])[1 + past.n % 4] end as model,
    'sandbox'::text as provider,
    case when past.n % 20 = 5 then 'failed' when past.n % 50 = 2 then 'canceled' else 'completed' end as status,
    case when past.n % 20 = 5 then (array['provider_error', 'run_timeout', 'content_refused'])[1 + past.n % 3]
      when past.n % 50 = 2 then 'canceled_by_user' end as error_code
  from given as past join given as roots on roots.n = ${TEN_RUNS_START}`;

export type FinishedRuns = {
  /** Runs of this call; they begin `days` days ago. */
  count: number;
  days: number;
  isSlim: boolean;
  tenantId: string;
  keyId: string;
  /** Runs that the service has executed: one that completed and one that failed. */
  originals: { completed: string; failed: string };
};

/** `client` is connected as a superuser. */
export async function insertFinishedRuns(client: pg.Client, runs: FinishedRuns): Promise<void> {
  const { count, days, isSlim, tenantId, keyId, originals } = runs;
  // Triggers would check each row and count what it stores; what is inserted here is consistent.
  await client.query("set session_replication_role = replica; set work_mem = '256MB'; set synchronous_commit = off");
  const copies: string[] = [];
  for (const [table, copied] of Object.entries(copiedTables(isSlim))) copies.push(await copySql(client, table, copied));
  for (let first = 0; first < count; first += CHUNK_RUNS) {
    await client.query("begin");
    await client.query(pastRunsSql(isSlim), [first, count, CHUNK_RUNS, days, tenantId, keyId]);
    await client.query("analyze past");
    for (const text of copies) await client.query(text, [originals.completed, originals.failed]);
    for (const text of otherInserts(isSlim)) await client.query(text);
    await client.query("commit");
  }
  await client.query("set session_replication_role = origin; set synchronous_commit = on");
}
